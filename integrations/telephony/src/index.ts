export { startBridge, type Bridge, type BridgeOptions } from './bridge.ts';
export type { CallEvent } from './call-leg.ts';
