export { startBridge, type Bridge } from './bridge.ts';
export type { AudioSocketOptions, BridgeOptions } from './bridge-options.ts';
export type { CallEvent, CallSummary, CallTurn, CallWord, LegEvent, Notice } from './events.ts';
export type { BridgeMetrics } from './metrics.ts';
export { Webhook, type WebhookOptions } from './webhook.ts';
export { isSignedWebhook } from './webhook-signature.ts';
