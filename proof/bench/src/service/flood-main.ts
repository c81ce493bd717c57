import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { audioFrame, rawFrame, textFrame } from '@svc-asr/testing/service/raw-frame.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { answerOrders } from '../measured-process.ts';
import { numbers } from './concurrency.ts';
import { createSession, type Tenant } from './fleet.ts';

/** Floods a service with cheap frames, in a process of its own so that the honest clients of a campaign measure only the service. */

const EMPTY = Buffer.alloc(0);
const BLOCK_BYTES = 65_536;
const RETRY_MS = 100;

const CHEAP_FRAMES = {
  empty: audioFrame(EMPTY),
  two_bytes: audioFrame(Buffer.alloc(2)),
  ping: rawFrame({ opcode: 9, payload: EMPTY }),
  pong: rawFrame({ opcode: 10, payload: EMPTY }),
  text: textFrame('{}'),
  fragments: Buffer.concat([
    rawFrame({ opcode: 2, payload: EMPTY, fin: false }),
    ...numbers(62).map(() => rawFrame({ opcode: 0, payload: EMPTY, fin: false })),
    rawFrame({ opcode: 0, payload: EMPTY }),
  ]),
} as const;

export interface FloodOrder {
  readonly kind: keyof typeof CHEAP_FRAMES;
  readonly url: string;
  readonly streamUrl: string;
  /** One connection each, opened again whenever the service closes it. */
  readonly attackers: readonly Tenant[];
  readonly ms: number;
}

export interface FloodAnswer {
  readonly connections: number;
}

async function flood(order: FloodOrder): Promise<FloodAnswer> {
  const frame = CHEAP_FRAMES[order.kind];
  const block = Buffer.concat(numbers(Math.ceil(BLOCK_BYTES / frame.byteLength)).map(() => frame));
  const untilMs = performance.now() + order.ms;
  let connections = 0;
  await Promise.all(
    order.attackers.map(async (attacker) => {
      while (performance.now() < untilMs) {
        const client = await connect(order, attacker);
        if (client === null) {
          await sleep(RETRY_MS);
          continue;
        }
        connections += 1;
        await pump(client, { block, untilMs });
      }
    }),
  );
  return { connections };
}

/** Returns null if the service refuses: the account has no session left for now. */
async function connect(order: FloodOrder, attacker: Tenant): Promise<StreamClient | null> {
  const body = { model: 'svc-asr-kikuyu-v1', max_audio_seconds: 1 } as const;
  const session = await createSession(order.url, attacker, body).catch(() => null);
  if (session === null) return null;
  return StreamClient.ready(session, { url: order.streamUrl }).catch(() => null);
}

/** Writes as fast as the service reads, until it closes the connection. */
async function pump(
  client: StreamClient,
  { block, untilMs }: { block: Buffer; untilMs: number },
): Promise<void> {
  const { wire } = client;
  if (wire === null) return;
  wire.on('error', () => wire.destroy());
  const closed = new Promise((resolve) => wire.once('close', resolve));
  const end = setTimeout(() => wire.destroy(), Math.max(0, untilMs - performance.now()));
  while (!wire.destroyed) {
    if (!wire.write(block)) {
      const drained = new Promise((resolve) => wire.once('drain', resolve));
      await Promise.race([drained, closed]);
    }
    // Lets the socket notice that the service has closed it.
    await new Promise((resolve) => setImmediate(resolve));
  }
  clearTimeout(end);
}

// Attackers have machines of their own: their work must not take processors from the service that is judged.
setPriority(constants.priority.PRIORITY_LOW);
answerOrders(flood);
