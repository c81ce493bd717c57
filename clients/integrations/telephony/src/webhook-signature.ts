import { createHmac } from 'node:crypto';
import { isSame } from '@svc-asr/runtime/server-access.ts';

export const SIGNATURE_HEADER = 'svc-signature';
const TOLERANCE_SECONDS = 300;

/** `t=1763290000,v1=…`: HMAC-SHA256 of the time, a dot and the body. The time keeps old requests from being replayed. */
export function signWebhook(secret: string, body: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

/** For receivers: whether the bridge sent this body within the last five minutes. */
export function isSignedWebhook(input: {
  readonly secret: string;
  /** The header `svc-signature`. */
  readonly signature: string | undefined;
  /** The body as received, before it is parsed. */
  readonly body: string;
  /** Default: the clock. */
  readonly nowMs?: number;
}): boolean {
  const [, time = ''] = /^t=(\d{1,12}),v1=[0-9a-f]{64}$/.exec(input.signature ?? '') ?? [];
  if (time === '' || input.secret === '') return false;
  const ageSeconds = (input.nowMs ?? Date.now()) / 1000 - Number(time);
  if (Math.abs(ageSeconds) > TOLERANCE_SECONDS) return false;
  return isSame(input.signature ?? '', signWebhook(input.secret, input.body, Number(time)));
}
