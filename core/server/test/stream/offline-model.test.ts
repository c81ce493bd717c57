import { rm } from 'node:fs/promises';
import { startSherpaEngine } from '@svc-asr/engine';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { framed, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll, expect, test } from 'vitest';

const models = standInModels();
const engine = await startSherpaEngine({ modelsDir: models, children: 1, slotsPerChild: 4 });
const svc = await startService({ parts: { engine } });
afterAll(async () => {
  await svc.stop();
  await engine.close();
  await rm(models, { recursive: true });
});

// sherpa-onnx's own offline recogniser ends its process on these.
test.each([0, 1, 399])(
  'a client that sends %i samples to an offline CTC model gets an empty final, then its text',
  async (samples) => {
    const [recogniser] = engine.children();
    const tenant = await svc.addTenant({ creditMs: 60_000 });
    const wanted = { model: KIKUYU, max_audio_seconds: 30 };
    const { body: session } = await svc.createSession(wanted, tenant);
    const client = await StreamClient.ready(session, { url: svc.streamUrl });
    if (samples > 0) client.send(Buffer.alloc(2 * samples));
    expect(await client.flush()).toMatchObject({ text: '', words: [] });
    for (const frame of framed(Buffer.from(speech('kikuyu-1').pcm))) client.send(frame);
    expect((await client.flush()).text).not.toBe('');
    expect(await client.close()).toMatchObject({ code: 1000 });
    expect(engine.children()).toMatchObject([{ pid: recogniser?.pid }]);
  },
);
