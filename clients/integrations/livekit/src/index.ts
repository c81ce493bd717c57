export { SvcSTT, type SvcSTTOptions, type SvcSTTUpdate } from './stt.ts';
export { SvcSpeechStream } from './speech-stream.ts';
