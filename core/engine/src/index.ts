export * from './core.ts';
export type { TlsFiles } from '@svc-asr/runtime/tls-files.ts';
export type { ModelManifest } from './weights/manifest.ts';
export { loadManifests, ManifestError } from './weights/load-manifests.ts';
export type { Logits } from './ctc/logits.ts';
export { CtcEncoder, type Encoded as EncodedCtc } from './recognisers/ctc-encoder.ts';
export { BeamText } from './ctc/beam-text.ts';
export { CtcLoader } from './recognisers/ctc-loader.ts';
export { CtcModel, type OfflineCtcFiles } from './recognisers/ctc-model.ts';
export {
  CtcRecogniser,
  finalFrames,
  windowsOf as ctcWindows,
} from './recognisers/ctc-recogniser.ts';
export { scorersOf, type Decoding, type LmUnit } from './ctc/decoding.ts';
export { NgramModel } from './lm/ngram-model.ts';
export { KeytermTree } from './keyterms/keyterm-tree.ts';
export { startSherpaEngine, type PoolNotice, type SherpaEngine } from './pool/pool.ts';
export { Silero, SileroStream } from './silero/silero.ts';
export { SileroConfirmer } from './silero/silero-confirmer.ts';
export { startEngineNode, type EngineNode } from './node/engine-node.ts';
export type { PeerNotice } from './riva/peer.ts';
export { RIVA_MODELS, startRivaEngine, type RivaEngine } from './riva/riva-engine.ts';
export { observeRecognisers } from './pool/recogniser-metrics.ts';
export { ROLE_NAME } from './grpc/protocol.ts';
