export * from './core.ts';
export type { TlsFiles } from '@svc-asr/runtime/tls-files.ts';
export type {
  ModelManifest,
  OfflineCtcManifest,
  TransducerManifest,
  ZipformerManifest,
} from './weights/manifest.ts';
export { loadManifests, ManifestError } from './weights/load-manifests.ts';
export type { Logits } from './ctc/logits.ts';
export { CtcEncoder } from './recognisers/ctc-encoder.ts';
export { BeamText } from './ctc/beam-text.ts';
export { CtcLoader } from './recognisers/ctc-loader.ts';
export { CtcModel } from './recognisers/ctc-model.ts';
export { CtcRecogniser } from './recognisers/ctc-recogniser.ts';
export { ZipformerLoader } from './recognisers/zipformer-loader.ts';
export { scorersOf, type Decoding, type LmUnit } from './ctc/decoding.ts';
export { NgramModel } from './lm/ngram-model.ts';
export { KeytermTree } from './keyterms/keyterm-tree.ts';
export {
  POOL_NOTICES,
  startSherpaEngine,
  type PoolNotice,
  type SherpaEngine,
  type SherpaOptions,
} from './pool/pool.ts';
export { Silero } from './silero/silero.ts';
export { SileroConfirmer } from './silero/silero-confirmer.ts';
export { SileroStream } from './silero/silero-stream.ts';
export { startEngineNode, type EngineNode, type EngineNodeOptions } from './node/engine-node.ts';
export type { PeerNotice } from './riva/peer.ts';
export {
  RIVA_MODELS,
  startRivaEngine,
  type EngineNodeStatus,
  type RivaEngine,
  type RivaOptions,
} from './riva/riva-engine.ts';
export { observeRecognisers } from './pool/recogniser-metrics.ts';
export { ROLE_NAME } from './grpc/protocol.ts';
