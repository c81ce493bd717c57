export { startBridge, type Bridge } from './bridge.ts';
export type {
  AudioSocketOptions,
  BridgeOptions,
  RecordingHosts,
  RecordingOptions,
} from './bridge-options.ts';
export type {
  CallEvent,
  CallSummary,
  CallTurn,
  CallWord,
  LegEvent,
  Notice,
  RecordedTurn,
  RecordingTranscript,
} from './events.ts';
export type { BridgeMetrics } from './metrics.ts';
export { Webhook, type WebhookOptions } from './webhook.ts';
export { isSignedWebhook } from './webhook-signature.ts';
