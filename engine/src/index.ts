export * from './core.ts';
export {
  loadManifests,
  ManifestError,
  type ModelManifest,
  type OfflineCtcManifest,
  type TransducerManifest,
} from './manifest.ts';
export { CtcEncoder } from './ctc/ctc-encoder.ts';
export { CtcLoader } from './ctc/ctc-loader.ts';
export { CtcRecogniser } from './ctc/ctc-recogniser.ts';
export type { Decoding } from './ctc/decoding.ts';
export {
  POOL_NOTICES,
  startSherpaEngine,
  type PoolNotice,
  type SherpaEngine,
  type SherpaOptions,
} from './sherpa/pool.ts';
export { startEngineNode, type EngineNode, type EngineNodeOptions } from './node/engine-node.ts';
export type { PeerNotice } from './riva/peer.ts';
export {
  RIVA_MODELS,
  startRivaEngine,
  type NodeStatus,
  type RivaEngine,
  type RivaOptions,
} from './riva/riva-engine.ts';
export { observeRecognisers } from './recogniser-metrics.ts';
export { ROLE_NAME } from './grpc/protocol.ts';
