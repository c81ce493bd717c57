import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '@svc-asr/runtime/server-access.ts';
import type { CallEvent, Notice } from './events.ts';
import type { BridgeMetrics } from './metrics.ts';
import { SIGNATURE_HEADER, signWebhook } from './webhook-signature.ts';

export interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  readonly metrics: BridgeMetrics;
  readonly onNotice: (notice: Notice) => void;
  /** Waits between the attempts for one event. */
  readonly waitsMs?: readonly number[];
}

const SECRET_LENGTH_MIN = 16;
/** A recording of two hours is an event of a megabyte. */
const QUEUE_MAX = { events: 10_000, bytes: 64 * 1024 * 1024 } as const;
const ATTEMPT_MS_MAX = 10_000;
/** Six attempts in about half a minute, longer if the receiver is slow. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/** Posts each event to your server, in order for each call. Gives up after six attempts. */
export class Webhook {
  readonly #options: WebhookOptions;
  /** The last delivery of each call. */
  readonly #calls = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #queued = 0;
  #bytes = 0;

  constructor(options: WebhookOptions) {
    checkWebhook(options);
    this.#options = options;
    options.metrics.gauge('svc_telephony_webhook_queue', () => this.#queued);
  }

  /** Interim text is for displays, so it is not sent. */
  send(event: CallEvent): void {
    if (event.type === 'interim') return;
    const body = JSON.stringify({ id: randomUUID(), ...event });
    const isFull = this.#queued >= QUEUE_MAX.events || this.#bytes + body.length > QUEUE_MAX.bytes;
    if (isFull) return this.#drop('The webhook is too slow: too many events wait.');
    this.#queued += 1;
    this.#bytes += body.length;
    const before = this.#calls.get(event.call);
    const mine = this.#deliverAfter(before, body).finally(() => {
      this.#queued -= 1;
      this.#bytes -= body.length;
      if (this.#calls.get(event.call) === mine) this.#calls.delete(event.call);
    });
    this.#calls.set(event.call, mine);
  }

  /** Waits until everything is delivered, at most this long. */
  async flush(msMax: number): Promise<void> {
    const all = Promise.all(this.#calls.values());
    await Promise.race([all, sleep(msMax, undefined, { ref: false })]);
    this.#stop.abort();
    await all;
  }

  async #deliverAfter(before: Promise<void> | undefined, body: string): Promise<void> {
    await before;
    if (this.#stop.signal.aborted) return this.#drop('The bridge stopped. An event is lost.');
    const { metrics, waitsMs = WAITS_MS } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#post(body);
      if (outcome === 'delivered') {
        return metrics.count('svc_telephony_webhook_requests_total', { outcome: 'delivered' });
      }
      const waitMs = waitsMs[attempt];
      if (waitMs === undefined || outcome.isFinal || this.#stop.signal.aborted) {
        metrics.count('svc_telephony_webhook_requests_total', { outcome: 'given_up' });
        return this.#drop(`The webhook answered with ${outcome.problem}. An event is lost.`);
      }
      metrics.count('svc_telephony_webhook_requests_total', { outcome: 'retried' });
      await sleep(waitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  async #post(body: string): Promise<'delivered' | { problem: string; isFinal: boolean }> {
    const { url, secret } = this.#options;
    const seconds = Math.floor(Date.now() / 1000);
    try {
      const response = await fetch(url, {
        method: 'POST',
        // A redirect could lead the transcript to another server.
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          [SIGNATURE_HEADER]: signWebhook(secret, body, seconds),
        },
        body,
        signal: AbortSignal.any([AbortSignal.timeout(ATTEMPT_MS_MAX), this.#stop.signal]),
      });
      await response.body?.cancel();
      if (response.ok) return 'delivered';
      const { status } = response;
      const mayHeal = status >= 500 || status === 408 || status === 429;
      return { problem: `status ${status}`, isFinal: !mayHeal };
    } catch {
      return { problem: 'no response', isFinal: false };
    }
  }

  #drop(message: string): void {
    this.#options.metrics.count('svc_telephony_events_dropped_total', { sink: 'webhook' });
    this.#options.onNotice({ level: 'error', code: 'webhook_failed', message });
  }
}

function checkWebhook({ url, secret }: WebhookOptions): void {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const isSafe =
    parsed?.protocol === 'https:' ||
    (parsed?.protocol === 'http:' && isLoopback(parsed.hostname.replace(/^\[|\]$/g, '')));
  if (!isSafe)
    throw new Error('The webhook needs an https:// address, or http:// on this machine.');
  if (secret.length < SECRET_LENGTH_MIN) {
    throw new Error(
      `Set SVC_TELEPHONY_WEBHOOK_SECRET to at least ${SECRET_LENGTH_MIN} characters (openssl rand -hex 32). ` +
        'It signs every event.',
    );
  }
}
