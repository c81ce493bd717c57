import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AsrSession, CreditBalance } from '@svc-asr/protocol';
import type { Tenant } from '@svc-asr/local/account-with-key.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { Call } from '../service/call.ts';

/** Used instead of Retry-After, to keep the campaign short. */
const RETRY_MS = 100;
const UPGRADE_REFUSED = 'Unexpected server response: 503';

export interface EdgeAddress {
  readonly url: string;
  readonly ca: Buffer;
}

interface EdgeAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** Creates sessions and streams through the edge until stopped, and counts its own charges. */
export class CellCaller {
  readonly tenant: Tenant;
  /** The charge by the client's own count. */
  consumedMs = 0;
  sessions = 0;
  /** Requests that got 503 or no response, and the longest time without a session. */
  refused = 0;
  refusedMsMax = 0;
  /** Valid keys that were refused as unknown. */
  misrouted = 0;
  /** Two sessions for one Idempotency-Key, or another response that breaks the contract. */
  wrong = 0;
  /** Streams that did not end as the client asked. */
  cut = 0;
  readonly #edge: EdgeAddress;
  readonly #agent: Agent;
  readonly #streamMs: number;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Rejects if the caller can't go on. */
  readonly failure: Promise<never>;
  #fail: (error: unknown) => void = () => {};

  constructor(input: { tenant: Tenant; edge: EdgeAddress; streamMs: number }) {
    this.tenant = input.tenant;
    this.#edge = input.edge;
    this.#streamMs = input.streamMs;
    // The edge closes idle connections, and a request sent at that moment would be lost.
    this.#agent = new Agent({ ca: input.edge.ca, keepAlive: false });
    this.failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failure.catch(() => {});
  }

  start(): this {
    this.#running = this.#run();
    this.#running.catch(this.#fail);
    return this;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const session = await this.#reserve();
      if (session === null) return;
      await this.#stream(session);
      await this.#untilSettled();
    }
  }

  /** Uses one key for all attempts. Every other request is sent twice at once. Returns null if stopped before a response. */
  async #reserve(): Promise<AsrSession | null> {
    const key = randomUUID();
    const twins = this.sessions % 2 === 0 ? 2 : 1;
    const beganMs = performance.now();
    for (;;) {
      const answers = await Promise.all(Array.from({ length: twins }, () => this.create(key)));
      const sessions = answers
        .filter(({ status }) => status === 201)
        .map(({ body }): AsrSession => JSON.parse(body));
      for (const answer of answers) this.#count(answer);
      if (new Set(sessions.map(({ id }) => id)).size > 1) this.wrong += 1;
      if (sessions[0] !== undefined) return sessions[0];
      this.refusedMsMax = Math.max(this.refusedMsMax, performance.now() - beganMs);
      if (this.#stopping.signal.aborted) return null;
      await sleep(RETRY_MS);
    }
  }

  #count({ status, retryAfter }: EdgeAnswer): void {
    if (status === 200 || status === 201) return;
    if (status === 401) this.misrouted += 1;
    else if (status === 503 && retryAfter !== undefined) this.refused += 1;
    else this.wrong += 1;
  }

  /** One `POST /v1/asr/sessions` through the edge. */
  create(idempotencyKey: string): Promise<EdgeAnswer> {
    const body = JSON.stringify({ model: speech('kikuyu-2').model, max_audio_seconds: 30 });
    return this.#ask('POST', '/v1/asr/sessions', {
      body,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'idempotency-key': idempotencyKey,
      },
    });
  }

  /** A close is sent after a second even if its settlement takes longer. Until then a new session would get 429. */
  async #untilSettled(): Promise<void> {
    for (;;) {
      const answer = await this.#ask('GET', '/v1/usage');
      this.#count(answer);
      if (answer.status === 200) {
        const { recent_sessions: recent }: CreditBalance = JSON.parse(answer.body);
        if (!recent.some(({ status }) => status === 'active')) return;
      }
      await sleep(RETRY_MS);
    }
  }

  async #ask(
    method: string,
    path: string,
    { body = '', headers = {} }: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<EdgeAnswer> {
    const sent = request(`${this.#edge.url}${path}`, {
      method,
      agent: this.#agent,
      headers: { authorization: `Bearer ${this.tenant.apiKey}`, ...headers },
    });
    return new Promise((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => {
        const { statusCode: status = 0, headers } = response;
        text(response).then(
          (answer) => resolve({ status, retryAfter: headers['retry-after'], body: answer }),
          reject,
        );
      });
      sent.end(body);
    });
  }

  /** Connects through the edge. The host of `websocket_url` names the cell. Retries 503, which doesn't spend the credential. */
  async #open(session: AsrSession): Promise<StreamClient> {
    const named = new URL(session.websocket_url);
    const url = `${this.#edge.url.replace(/^https/, 'wss')}${named.pathname}`;
    const options = { url, headers: { host: named.host }, ca: this.#edge.ca };
    for (;;) {
      const client = await StreamClient.ready(session, options).catch((error: Error) => error);
      if (client instanceof StreamClient) return client;
      if (client.message !== UPGRADE_REFUSED) throw client;
      this.refused += 1;
      await sleep(RETRY_MS);
    }
  }

  async #stream(session: AsrSession): Promise<void> {
    const call = new Call(session, await this.#open(session));
    await call.repeat(speech('kikuyu-2').pcm, () => call.sentMs < this.#streamMs);
    this.sessions += 1;
    if (await call.hangUp()) this.consumedMs += call.billedMs;
    else this.cut += 1;
  }
}
