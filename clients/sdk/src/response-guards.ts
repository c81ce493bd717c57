import type { AsrSession, CreditBalance, ModelList, ServerEvent } from '@svc-asr/protocol';

/**
 * Check whether a response has the service's shape: enough to detect a proxy's page or a wrong address. Other fields
 * are trusted, and unknown ones are passed on, because the service only adds fields inside v1.
 */

export function isSession(value: unknown): value is AsrSession {
  return (
    isRecord(value) &&
    typeof value['id'] === 'string' &&
    typeof value['websocket_url'] === 'string' &&
    Array.isArray(value['websocket_protocols']) &&
    value['websocket_protocols'].length === 2
  );
}

export function isBalance(value: unknown): value is CreditBalance {
  return isRecord(value) && value['object'] === 'credit_balance';
}

export function isModelList(value: unknown): value is ModelList {
  return isRecord(value) && value['object'] === 'list' && Array.isArray(value['data']);
}

const EVENT_TYPES: ReadonlySet<unknown> = new Set<ServerEvent['type']>([
  'status',
  'ready',
  'config_ack',
  'reset_ack',
  'delta',
  'final',
  'speech_started',
  'speech_ended',
  'turn_eager',
  'turn_resumed',
  'error',
]);

export function isServerEvent(value: unknown): value is ServerEvent {
  return isRecord(value) && EVENT_TYPES.has(value['type']);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
