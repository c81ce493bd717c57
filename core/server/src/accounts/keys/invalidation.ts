import { randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import { connect, type Client, type ConnectOptions } from '../../platform/database/db.ts';
import type { Log } from '../../platform/observe/log.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import { sleep } from '../../platform/sleep.ts';

/** The channel for changed keys. The triggers are in sql/functions/76_api_key_invalidation.sql. */
const CHANNEL = 'svc_key_changed';
const HEARTBEAT_EVERY_MS = 1_000;
const DISCONNECT_MS = 1_000;
/** After this long without a heartbeat, notifications may have been missed. */
const HEARTBEAT_MAX_AGE_MS = 3_000;

interface Listener {
  readonly client: Client;
  readonly channel: string;
}

/**
 * Receives a notification for every API key that is revoked or changed, and knows whether notifications arrive. Each
 * second it notifies itself through the database. Notifications arrive in commit order, so a heartbeat that came back
 * proves that every change committed before it was received too.
 */
export class ApiKeyInvalidation {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Called with the public id of each changed key. */
  onChange: (publicId: string) => void = () => {};
  #listeningSinceMs = Infinity;
  #heartbeatAtMs = -Infinity;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether every change since that moment has arrived, except possibly those of the last three seconds. */
  coversSince(momentMs: number): boolean {
    const ageMs = this.#clock.monotonicMs() - this.#heartbeatAtMs;
    return momentMs >= this.#listeningSinceMs && ageMs <= HEARTBEAT_MAX_AGE_MS;
  }

  /** Whether notifications arrive now. While they don't, keys are cached for seconds only. */
  get isReceiving(): boolean {
    return this.coversSince(this.#clock.monotonicMs());
  }

  /** Listens on its own connection, and reconnects when it breaks. Returns a stop function. */
  listen(options: ConnectOptions): () => Promise<void> {
    let listener: Listener | null = null;
    const task = startPeriodic({
      everyMs: HEARTBEAT_EVERY_MS,
      log: this.#log,
      failure: 'API key changes are not received. It reconnects every second.',
      run: async () => {
        try {
          listener ??= await this.#connect(options);
          await this.#sendHeartbeat(listener);
        } catch (error) {
          await this.#disconnect(listener);
          listener = null;
          throw error;
        }
      },
    });
    return async () => {
      await task.stop();
      await this.#disconnect(listener);
    };
  }

  async #connect(options: ConnectOptions): Promise<Listener> {
    const client = await connect(options);
    // Its own channel: the heartbeat wakes no other process, and no other process can fake it.
    const listener = { client, channel: `svc_beat_${randomUUID()}` };
    try {
      client.on('notification', ({ channel, payload = '' }) => {
        if (channel === listener.channel) this.#heartbeatAtMs = Number(payload);
        else this.onChange(payload);
      });
      await client.query(`listen ${CHANNEL}; listen "${listener.channel}"`);
      this.#listeningSinceMs = this.#clock.monotonicMs();
      return listener;
    } catch (error) {
      await this.#disconnect(listener);
      throw error;
    }
  }

  async #disconnect(listener: Listener | null): Promise<void> {
    this.#listeningSinceMs = Infinity;
    // A connection that hangs never confirms its end.
    if (listener !== null) await Promise.race([listener.client.end(), sleep(DISCONNECT_MS)]);
  }

  async #sendHeartbeat({ client, channel }: Listener): Promise<void> {
    await client.query({
      name: 'api_key_heartbeat',
      text: 'select pg_notify($1, $2)',
      values: [channel, String(this.#clock.monotonicMs())],
    });
  }
}
