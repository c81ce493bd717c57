/**
 * The part of the engine without recognisers: its contract, the scripted engine, voice activity, replay, tracing and
 * settings. It needs neither ONNX Runtime nor gRPC, so the emulator's package has neither.
 */
export * from './engine.ts';
export {
  VoiceActivity,
  type FrameVerdict,
  type SpeechDetector,
} from './voice-activity/voice-activity.ts';
export { HOP_SAMPLES, type VoiceVerdicts } from './voice-activity/confirmation.ts';
export type { ConfirmerCounts, VoiceConfirmer, VoiceListener } from './voice-activity/confirmer.ts';
export {
  createScriptedEngine,
  type ScriptedEngine,
  type ScriptedOptions,
  type StreamScript,
} from './scripted.ts';
export {
  withReplay,
  type ReplayCounts,
  type ReplayEngine,
  type ReplayOptions,
} from './replay/with-replay.ts';
export { DEVICES, THREADS_PER_CHILD_MAX, type Compute, type Device } from './compute.ts';
export { isLoopback, parseOtlp, parseTlsFiles } from './node/node-config.ts';
export type { TlsFiles } from './grpc/certificates.ts';
export { addressProblem } from './riva/discovery.ts';
export {
  newSpanId,
  newTrace,
  presentTraceparent,
  sessionTrace,
  type SpanRecord,
  type TraceParent,
  type Tracing,
} from './tracing/tracing.ts';
export { startOtlpTracing, type OtlpOptions } from './tracing/otlp-tracing.ts';
