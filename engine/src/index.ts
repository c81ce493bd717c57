export * from './core.ts';
export {
  loadManifests,
  ManifestError,
  type ModelManifest,
  type OfflineCtcManifest,
  type TransducerManifest,
} from './manifest.ts';
export { CtcEncoder, type Logits } from './ctc/ctc-encoder.ts';
export { BeamText } from './ctc/beam-text.ts';
export { CtcLoader } from './ctc/ctc-loader.ts';
export { CtcModel } from './ctc/ctc-model.ts';
export { CtcRecogniser } from './ctc/ctc-recogniser.ts';
export { scorersOf, type Decoding, type LmUnit } from './ctc/decoding.ts';
export { NgramModel } from './lm/ngram-model.ts';
export { KeytermTree } from './keyterms/keyterm-tree.ts';
export {
  POOL_NOTICES,
  startSherpaEngine,
  type PoolNotice,
  type SherpaEngine,
  type SherpaOptions,
} from './sherpa/pool.ts';
export { Silero } from './silero/silero.ts';
export { SileroConfirmer } from './silero/silero-confirmer.ts';
export { SileroStream } from './silero/silero-stream.ts';
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
