import { createScriptedEngine, type Engine } from '@svc-asr/engine';
import { LIMITS } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { audioFrame, rawFrame, textFrame } from '@svc-asr/testing/service/raw-frame.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

/** Floods of frames that cost their sender next to nothing. */

const EMPTY = Buffer.alloc(0);
const CHEAP_FRAMES = {
  empty: audioFrame(EMPTY),
  'two-byte': audioFrame(Buffer.alloc(2)),
  ping: rawFrame({ opcode: 9, payload: EMPTY }),
  pong: rawFrame({ opcode: 10, payload: EMPTY }),
  text: textFrame('{}'),
  fragmented: Buffer.concat([
    rawFrame({ opcode: 2, payload: EMPTY, fin: false }),
    ...Array.from({ length: 60 }, () => rawFrame({ opcode: 0, payload: EMPTY, fin: false })),
    rawFrame({ opcode: 0, payload: EMPTY }),
  ]),
} as const;

function repeat(bytes: Buffer, count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => bytes));
}

test.each(Object.entries(CHEAP_FRAMES))(
  'disconnects a client that floods %s frames and never stops, and serves others meanwhile',
  async (_, frame) => {
    const svc = await startService();
    const honest = await svc.addTenant({ creditMs: 60_000 });
    const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 1 });
    const client = await StreamClient.ready(body, { url: svc.streamUrl });
    const other = await StreamClient.ready((await svc.createSession(undefined, honest)).body, {
      url: svc.streamUrl,
    });
    const { wire } = client;
    if (wire === null) throw new Error('The stream has no connection.');
    const block = repeat(frame, Math.ceil(65_536 / frame.byteLength));
    const gone = new Promise((resolve) => wire.once('close', resolve));
    wire.on('error', () => wire.destroy());
    (function pump(): void {
      if (wire.destroyed) return;
      if (wire.write(block)) setImmediate(pump);
      else wire.once('drain', pump);
    })();
    expect((await other.send(speech({ ms: 1_000 })).flush()).billable_ms).toBe(1_000);
    await gone;
    await other.close();
    const [session] = (await svc.usage()).body.recent_sessions;
    expect(session).toMatchObject({ status: 'completed' });
    await svc.stop();
  },
);

test('reads one frame of a connection per turn of the event loop', async () => {
  const engine = createScriptedEngine({ script: { texts: ['nĩ wega'] } });
  let turn = 0;
  const turnOfFrame: number[] = [];
  const watched: Engine = {
    ...engine,
    async open(input) {
      const stream = await engine.open(input);
      const write = stream.write.bind(stream);
      stream.write = (pcm) => {
        turnOfFrame.push(turn);
        return write(pcm);
      };
      return stream;
    },
  };
  const svc = await startService({ parts: { engine: watched } });
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  let isCounting = true;
  (function nextTurn(): void {
    turn += 1;
    if (isCounting) setImmediate(nextTurn);
  })();
  client.wire?.write(repeat(audioFrame(speech({ samples: LIMITS.tinyFrameBytes / 2 })), 900));
  await client.flush();
  isCounting = false;
  expect(turnOfFrame).toHaveLength(900);
  expect(new Set(turnOfFrame).size).toBe(900);
  await client.close();
  await svc.stop();
});
