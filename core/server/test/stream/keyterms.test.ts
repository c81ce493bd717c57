import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startSherpaEngine, withReplay } from '@svc-asr/engine';
import { DHOLUO, startService, type Service } from '@svc-asr/testing/service/service.ts';
import { framed, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll, expect, test } from 'vitest';

const LM = join(import.meta.dirname, '../../../engine/test/lm/characters.bin');
const searching = standInModels({
  lm: LM,
  decoding: { unit: 'character', alpha: 0, beta: 0, beam: 16 },
});
const greedy = standInModels();
const pool = await startSherpaEngine({ modelsDir: searching, children: 2, slotsPerChild: 4 });
const greedyPool = await startSherpaEngine({ modelsDir: greedy, children: 1, slotsPerChild: 4 });
const svc = await startService({ parts: { engine: withReplay(pool) } });
const greedySvc = await startService({ parts: { engine: greedyPool } });
const AUDIO = Buffer.from(speech('dholuo-2').pcm);
/** The stand-in writes another vowel in this word unless it listens for it. */
const TERM = 'mondo';
const HEARD = 'mũndo';
afterAll(async () => {
  await Promise.all([svc.stop(), greedySvc.stop()]);
  await Promise.all([pool.close(), greedyPool.close()]);
  await Promise.all([rm(searching, { recursive: true }), rm(greedy, { recursive: true })]);
});

async function newStream(service: Service): Promise<StreamClient> {
  const tenant = await service.addTenant({ creditMs: 300_000 });
  const wanted = { model: DHOLUO, max_audio_seconds: 60 };
  const { body: session } = await service.createSession(wanted, tenant);
  return StreamClient.ready(session, { url: service.streamUrl });
}

async function recognise(client: StreamClient): Promise<readonly string[]> {
  for (const frame of framed(AUDIO)) client.send(frame);
  return (await client.flush()).text.split(' ');
}

test('a model with a beam search finds a keyterm, from the utterance on that the acknowledgement names', async () => {
  const client = await newStream(svc);
  expect(client.events[0]).toMatchObject({ type: 'ready', keyterms: { max_terms: 100 } });
  const plain = await recognise(client);
  expect(plain).toContain(HEARD);
  expect(plain).not.toContain(TERM);
  client.say({ type: 'config', keyterms: ['Mondo', 'café'] });
  expect(await client.next('config_ack')).toMatchObject({
    effective: 'now',
    keyterms: { taken: [TERM], refused: [{ index: 1, reason: 'unsupported_characters' }] },
  });
  client.send(AUDIO.subarray(0, 6_400));
  client.say({ type: 'config', keyterms: [] });
  expect(await client.next('config_ack', 2)).toMatchObject({ effective: 'next_utterance' });
  for (const frame of framed(AUDIO.subarray(6_400))) client.send(frame);
  expect((await client.flush()).text.split(' ')).toContain(TERM);
  expect(await recognise(client)).toEqual(plain);
  await client.close();
});

test('a word that differs from a keyterm only in spelling is written as the keyterm', async () => {
  const client = await newStream(svc);
  const plain = await recognise(client);
  client.say({ type: 'config', keyterms: ['Munndo'] });
  await client.next('config_ack');
  expect(await recognise(client)).toEqual(plain.map((word) => (word === HEARD ? 'munndo' : word)));
  await client.close();
});

test('a stream keeps its keyterms when its recogniser dies in the middle of an utterance', async () => {
  const client = await newStream(svc);
  client.say({ type: 'config', keyterms: [TERM] });
  await client.next('config_ack');
  const uninterrupted = await recognise(client);
  expect(uninterrupted).toContain(TERM);
  for (const frame of framed(AUDIO.subarray(0, 80_000))) client.send(frame);
  await client.next('delta');
  for (const { pid, active } of pool.children()) if (active > 0) process.kill(pid, 'SIGKILL');
  for (const frame of framed(AUDIO.subarray(80_000))) client.send(frame);
  expect((await client.flush()).text.split(' ')).toEqual(uninterrupted);
  await client.close();
});

test('a greedy model says in ready and in the acknowledgement that it takes none', async () => {
  const client = await newStream(greedySvc);
  expect(client.events[0]).toMatchObject({ type: 'ready', keyterms: null });
  client.say({ type: 'config', keyterms: [TERM] });
  const refused = [{ index: 0, reason: 'not_supported' }];
  expect(await client.next('config_ack')).toMatchObject({ keyterms: { taken: [], refused } });
  expect(await recognise(client)).toContain(HEARD);
  client.say({ type: 'config', keyterms: TERM });
  expect(await client.next('error')).toMatchObject({ code: 'invalid_keyterms', fatal: false });
  await client.close();
});
