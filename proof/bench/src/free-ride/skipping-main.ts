import { setTimeout as sleep } from 'node:timers/promises';
import {
  startEngineNode,
  startRivaEngine,
  startSherpaEngine,
  withReplay,
  type Engine,
  type EngineEvent,
  type EngineStream,
  type OpenInput,
} from '@svc-asr/engine';
import { parseConfig } from '@svc-asr/server/config.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { startServer } from '@svc-asr/server/server.ts';
import { SKIP_MS, SKIPPED } from './skipping.ts';

/**
 * The service with a clock that SIGUSR2 moves by SKIP_MS, so that pauses of minutes take seconds. With TIERS=2 the
 * recogniser is an engine node with the same clock. All settings are those that ship.
 */
const config = parseConfig(process.env);
const log = createLog({ level: config.logLevel });
/** The node, the heartbeats and the gateway look at their streams every 250 ms. */
const LOOKED_MS = 600;
const FINAL_POLL_MS = 20;
let skippedMs = 0;
const finals = { owed: 0 };
const nowMs = (): number => performance.now() + skippedMs;

const pool = await startSherpaEngine({ modelsDir: config.engine.modelsDir, children: 1 });
const engine = counting(withReplay(process.env['TIERS'] === '2' ? await viaNode(pool) : pool));
const server = await startServer(config, { log, clock: { monotonicMs: nowMs }, engine });
log.info({ url: server.url }, 'listening');

process.on('SIGUSR2', () => void skip());
process.once('SIGTERM', () => void stop());

/** Time stands still while the engine owes a final, so a slow machine doesn't look like a stalled engine. */
async function skip(): Promise<void> {
  while (finals.owed > 0) await sleep(FINAL_POLL_MS);
  skippedMs += SKIP_MS;
  await sleep(LOOKED_MS);
  process.stdout.write(`${SKIPPED}\n`);
}

async function stop(): Promise<void> {
  await server.stop({ drainMs: 0 });
  process.exit(0);
}

async function viaNode(recognisers: Engine): Promise<Engine> {
  const address = '127.0.0.1:0';
  const node = await startEngineNode({ engine: recognisers, address, tls: null, nowMs });
  return startRivaEngine({ addresses: `127.0.0.1:${node.port}`, tls: null, nowMs });
}

function counting(inner: Engine): Engine {
  return {
    describe: (model) => inner.describe(model),
    health: () => inner.health(),
    close: () => inner.close(),
    open: async (input: OpenInput) => countFinals(await inner.open(input)),
  };
}

function countFinals(stream: EngineStream): EngineStream {
  let owed = 0;
  async function* events(): AsyncGenerator<EngineEvent> {
    for await (const event of stream.events) {
      if (event.type === 'final') settle(1);
      yield event;
    }
    settle(owed);
  }
  function settle(count: number): void {
    owed -= count;
    finals.owed -= count;
  }
  return {
    chunkSamples: stream.chunkSamples,
    build: stream.build,
    recogniser: stream.recogniser,
    write: (pcm) => stream.write(pcm),
    reset: () => stream.reset(),
    expect: (keyterms) => stream.expect(keyterms),
    events: events(),
    flush() {
      settle(-1);
      stream.flush();
    },
    async close() {
      settle(owed);
      await stream.close();
    },
  };
}
