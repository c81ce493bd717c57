import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DECODER_MEMORY_MIB } from '@svc-asr/runtime/audio-sandbox.ts';
import { DEFAULT_LIMITS } from '../src/config.ts';
import { WAITING_BYTES_MAX } from '../src/deepgram/listen-socket.ts';
import { WAITING_CHARS_MAX } from '../src/openai/realtime-inbox.ts';
import { FRAME_BYTES_MAX } from '../src/server.ts';

const DEPLOY = join(import.meta.dirname, '../../../../deploy');
const MIB = 1024 * 1024;
/** Node, its code and everything that doesn't depend on the number of clients. */
const BASE_MIB = 200;

/** Reads a size such as 4G from a line of a file. */
function memoryMib(file: string, line: RegExp): number {
  const [, gibibytes] = line.exec(readFileSync(join(DEPLOY, file), 'utf8')) ?? [];
  if (gibibytes === undefined) throw new Error(`${file} has no limit of memory.`);
  return Number(gibibytes) * 1024;
}

test.each([
  ['systemd/svc-compatible.service', /^MemoryMax=(\d+)G$/m],
  ['compose.compatible.yaml', /^ +mem_limit: (\d+)g$/m],
])('all decoders and all connections at their limits fit into the memory of %s', (file, line) => {
  const { connections, decoders } = DEFAULT_LIMITS;
  const waitingBytes = Math.max(WAITING_BYTES_MAX, WAITING_CHARS_MAX);
  const connectionsMib = (connections * (FRAME_BYTES_MAX + waitingBytes)) / MIB;
  const sumMib = decoders * DECODER_MEMORY_MIB + connectionsMib + BASE_MIB;
  expect(sumMib).toBeLessThanOrEqual(memoryMib(file, line));
});
