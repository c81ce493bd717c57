import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { connect, type Client, type ConnectOptions } from '../db.ts';
import type { Log } from '../log.ts';

/** The database tells here which keys changed; see the triggers in ledger/sql/76_key_news.sql. */
const CHANNEL = 'svc_key_changed';
const BEAT_EVERY_MS = 1_000;
const GOODBYE_MS = 1_000;
/** What was not heard within this may have been missed. */
const SILENCE_MAX_MS = 3_000;

/**
 * Hears of every key that was revoked or otherwise changed, and knows whether it still hears: each second it sends
 * itself a word through the database. Notifications arrive in the order of their commits, so a word that came back
 * proves that whatever was committed before it was sent has been heard too.
 */
export class KeyNews {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Told the public id of each key that changed. */
  onChange: (publicId: string) => void = () => {};
  #listeningSinceMs = Infinity;
  #heardUpToMs = -Infinity;
  #isAway = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether no change after that moment can have been missed, but for those of the last three seconds. */
  hasHeardAllSince(momentMs: number): boolean {
    const silentMs = this.#clock.monotonicMs() - this.#heardUpToMs;
    return momentMs >= this.#listeningSinceMs && silentMs <= SILENCE_MAX_MS;
  }

  /** Whether it hears now; while it does not, keys are remembered for seconds only. */
  get isHearing(): boolean {
    return this.hasHeardAllSince(this.#clock.monotonicMs());
  }

  /** Listens on a connection of its own, anew whenever that breaks, until what it gives is called. */
  listen(options: ConnectOptions): () => Promise<void> {
    const stopping = new AbortController();
    const listening = this.#listenUntil(stopping.signal, options);
    return () => {
      stopping.abort();
      return listening;
    };
  }

  async #listenUntil(signal: AbortSignal, options: ConnectOptions): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#listenOnce(signal, options);
      } catch (error) {
        if (!this.#isAway) {
          this.#log.warn(
            { err: error },
            'Changes of keys are not heard. It is tried every second.',
          );
        }
        this.#isAway = true;
      }
      this.#listeningSinceMs = Infinity;
      await pause(signal);
    }
  }

  async #listenOnce(signal: AbortSignal, options: ConnectOptions): Promise<void> {
    const client = await connect(options);
    try {
      // A channel of its own: nobody else is woken by these words, and nobody else's can be taken for them.
      const ownChannel = `svc_beat_${randomUUID()}`;
      client.on('notification', ({ channel, payload = '' }) => {
        if (channel === ownChannel) this.#heardUpToMs = Number(payload);
        else this.onChange(payload);
      });
      await client.query(`listen ${CHANNEL}; listen "${ownChannel}"`);
      this.#listeningSinceMs = this.#clock.monotonicMs();
      while (!signal.aborted) {
        await this.#beat(client, ownChannel);
        this.#isAway = false;
        await pause(signal);
      }
    } finally {
      // A connection that hangs does not even say goodbye.
      await Promise.race([client.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
    }
  }

  async #beat(client: Client, ownChannel: string): Promise<void> {
    await client.query({
      name: 'key_news_beat',
      text: 'select pg_notify($1, $2)',
      values: [ownChannel, String(this.#clock.monotonicMs())],
    });
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return delay(BEAT_EVERY_MS, undefined, { signal }).catch(() => {});
}
