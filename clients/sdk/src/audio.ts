export { AudioConverter, type SourceFormat } from './audio/converter.ts';
export { decodeAlaw, decodeMulaw } from './audio/g711.ts';
export { mixToMono, toFloat, toPcm16 } from './audio/pcm.ts';
export { Resampler } from './audio/resampler.ts';
export type { SampleEncoding } from './audio/samples.ts';
export { readWav, wavToPcm16k, type WavAudio } from './audio/wav.ts';
export { VoiceGate, type GateOptions, type GateOutput } from './voice-gate.ts';
