export * from './engine.ts';
export {
  VoiceActivity,
  type FrameVerdict,
  type SpeechDetector,
} from './voice-activity/voice-activity.ts';
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
export {
  loadManifests,
  ManifestError,
  type ModelManifest,
  type OfflineCtcManifest,
  type TransducerManifest,
} from './manifest.ts';
export { CtcEncoder } from './ctc/ctc-encoder.ts';
export { CtcRecogniser } from './ctc/ctc-recogniser.ts';
export {
  POOL_NOTICES,
  startSherpaEngine,
  type PoolNotice,
  type SherpaEngine,
  type SherpaOptions,
} from './sherpa/pool.ts';
export { startEngineNode, type EngineNode, type EngineNodeOptions } from './node/engine-node.ts';
export { isLoopback, parseOtlp, parseTlsFiles } from './node/node-config.ts';
export type { TlsFiles } from './grpc/certificates.ts';
export { addressProblem } from './riva/discovery.ts';
export type { PeerNotice } from './riva/peer.ts';
export {
  RIVA_MODELS,
  startRivaEngine,
  type NodeStatus,
  type RivaEngine,
  type RivaOptions,
} from './riva/riva-engine.ts';
export { observeRecognisers } from './recogniser-metrics.ts';
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
export { ROLE_NAME } from './grpc/protocol.ts';
