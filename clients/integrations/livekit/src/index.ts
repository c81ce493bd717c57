export { SvcSTT, type SvcSTTOptions } from './stt.ts';
export { SvcSpeechStream } from './speech-stream.ts';
