import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBridge, type CallEvent, type CallSummary } from '../src/index.ts';
import { call, startAsterisk } from './asterisk/asterisk.ts';
import { SPEECH } from './calls.ts';

const TEXT = 'ũhoro waku';
const TOKEN = '0123456789abcdef';
const HOLD_MS = 20_000;

let emulator: Emulator;
let folder: string;
beforeAll(async () => {
  emulator = await startEmulator({ texts: [TEXT], concurrency: 2, shortestMs: 1_000 });
  folder = await mkdtemp(join(tmpdir(), 'asterisk-call-'));
  const format = ['-ar', '8000', '-ac', '1', '-f', 'alaw', join(folder, 'speech.alaw')];
  execFileSync('ffmpeg', ['-v', 'error', '-i', SPEECH, ...format]);
});
afterAll(async () => {
  await emulator.stop();
  await rm(folder, { recursive: true });
});

/** One call through Debian's Asterisk: the caller's sentence, 20 s on hold, and the sentence again. */
async function callThroughAsterisk(number: string, transport: string): Promise<CallSummary> {
  const events: CallEvent[] = [];
  const bridge = await startBridge({
    client: new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey }),
    model: 'svc-asr-kikuyu-v1',
    token: TOKEN,
    audioSocket: { port: 0 },
    onEvent: (event) => events.push(event),
  });
  try {
    const http = bridge.url.replace('ws:', 'http:');
    const asterisk = await startAsterisk({
      SVC_TRANSPORT: transport,
      SVC_ANNOUNCE: `${http}/audiosocket/${TOKEN}`,
      SVC_AUDIOSOCKET: `127.0.0.1:${bridge.audioSocketPort}`,
      uri: `${bridge.url}/asterisk/${TOKEN}`,
    });
    try {
      expect(await call(asterisk, { number, folder })).toBe(0);
      await expect.poll(() => events.at(-1)).toMatchObject({ type: 'call_ended' });
    } finally {
      await asterisk.stop();
    }
  } finally {
    await bridge.stop();
  }
  const [summary, ...more] = events.filter((event) => event.type === 'call_ended');
  expect(more).toEqual([]);
  if (summary === undefined) throw new Error('The call has no summary.');
  return summary;
}

/** What the caller said, and how long the line was silent in between. */
function callerOf({ turns }: CallSummary): { texts: string[]; silenceMs: number } {
  const [first, second] = turns.filter(({ leg }) => leg === 'caller');
  return {
    texts: turns.filter(({ leg }) => leg === 'caller').map(({ text }) => text),
    silenceMs: (second?.start_ms ?? 0) - (first?.end_ms ?? 0),
  };
}

test.each(['websocket', 'audiosocket'])(
  'Asterisk: both legs of a call are transcribed as one call through %s, also after 20 s on hold',
  async (transport) => {
    const summary = await callThroughAsterisk('100', transport);
    const { texts, silenceMs } = callerOf(summary);
    expect(texts).toEqual([TEXT, TEXT]);
    expect(silenceMs).toBeGreaterThan(HOLD_MS);
    expect(summary.legs.map(({ leg, reason }) => `${leg} ${reason}`).toSorted()).toEqual([
      'callee completed',
      'caller completed',
    ]);
    const callee = summary.turns.filter(({ leg }) => leg === 'callee');
    expect(callee).toMatchObject([{ text: TEXT }]);
  },
);

test('Asterisk: a caller of AudioSocket who sends no packet for 20 s on hold is not hung up', async () => {
  const { texts, silenceMs } = callerOf(await callThroughAsterisk('200', 'audiosocket'));
  expect(texts).toEqual([TEXT, TEXT]);
  expect(silenceMs).toBeGreaterThan(HOLD_MS);
});
