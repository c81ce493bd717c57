import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../observe/log.ts';
import type { SharedCounts } from './rate-limit.ts';

/** A request waits no longer than this for Redis. */
const ANSWER_MS = 500;
/** After a failure one request a second waits for Redis, and the others don't. */
const PAUSE_MS = 1_000;
const CONNECT_MS = 1_000;
const PING_MS = 1_000;
const SILENCE_MS = 3_000;
const RECONNECT_MS_MAX = 2_000;
const COMMANDS_MAX = 10_000;

/** Reads and spends atomically, by Redis's clock. Returns the previous debt of the bucket in milliseconds. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local tokenMs = tonumber(ARGV[1])
local owed = math.max(0, tonumber(redis.call('GET', KEYS[1]) or '0') - now)
if tonumber(ARGV[2]) - owed / tokenMs >= 1 - 1e-6 then
  redis.call('SET', KEYS[1], string.format('%.3f', now + owed + tokenMs), 'PX', math.ceil(owed + tokenMs))
end
return string.format('%.3f', owed)`;

/** Rate-limit counts in a Redis shared by several processes. */
export interface RedisCounts extends SharedCounts {
  readonly isShared: boolean;
  /** How many times it returned null. */
  readonly fallbacks: number;
  close(): void;
}

/** Resolves when connected, or after a second, because the service also works without Redis. */
export async function connectRedisCounts(input: {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<RedisCounts> {
  const { clock, log } = input;
  // Loaded on demand: most services run without Redis, and the emulator's package doesn't have it.
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url: input.url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: COMMANDS_MAX,
    pingInterval: PING_MS,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, RECONNECT_MS_MAX),
    },
  });
  let isShared = true;
  let fallbacks = 0;
  let pausedUntilMs = 0;

  function failed(error: unknown): void {
    pausedUntilMs = clock.monotonicMs() + PAUSE_MS;
    if (isShared)
      log.error(
        { reason: reasonOf(error) },
        'Redis is unavailable. Each process counts rate limits on its own.',
      );
    isShared = false;
  }
  function answered(): void {
    if (!isShared) log.info('Redis is available again. Rate limits are shared.');
    isShared = true;
    pausedUntilMs = 0;
  }
  // Also prevents a connection error from crashing the process.
  client.on('error', failed);
  const connecting = client.connect().catch(failed);
  await Promise.race([connecting, after(CONNECT_MS, undefined, { ref: false })]);

  return {
    get isShared() {
      return isShared;
    },
    get fallbacks() {
      return fallbacks;
    },
    async take(key, { perMinute, burst }) {
      const now = clock.monotonicMs();
      if (now >= pausedUntilMs) {
        if (!isShared) pausedUntilMs = now + PAUSE_MS;
        try {
          const args = [String(60_000 / perMinute), String(burst)];
          const owed = await inTime(client.eval(TAKE, { keys: [key], arguments: args }));
          answered();
          return Number(owed);
        } catch (error) {
          failed(error);
        }
      }
      fallbacks += 1;
      return null;
    },
    close() {
      if (client.isOpen) client.destroy();
    },
  };
}

function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new Error('no answer in time'));
    // After a pause of our own event loop, the response may have arrived but not been read yet.
    const timer = setTimeout(() => setImmediate(giveUp), ANSWER_MS);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A message could contain the address with its password. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
