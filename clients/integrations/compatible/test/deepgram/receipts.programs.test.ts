import { readFileSync } from 'node:fs';
import { SvcClient } from '@svc-asr/sdk';
import { wavOf } from '@svc-asr/testing/speech/wav.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCompatibleService, type CompatibleService } from '../compatible-service.ts';
import { ListenClient, SENTENCE, silence, SPEECH_FILE } from './listen-client.ts';

let service: CompatibleService;
beforeAll(async () => {
  service = await startCompatibleService({ emulator: { shortestMs: 1_000 } });
});
afterAll(() => service.stop());

async function consumedS(): Promise<number> {
  const { url: baseUrl, apiKey } = service.emulator;
  const { consumed_ms } = await new SvcClient({ baseUrl, apiKey }).usage.get();
  return consumed_ms / 1000;
}

/** What the program says that its listeners were charged. */
function billedS(): number {
  const series = /^svc_compatible_billed_seconds_total\{door="listen"\} (\S+)$/m;
  return Number(series.exec(service.server.metrics.text())?.[1] ?? 0);
}

async function listen(...audio: readonly Buffer[]): Promise<void> {
  const client = await ListenClient.open(service.url, { key: service.emulator.apiKey });
  for (const bytes of audio) client.sendAudio(bytes);
  client.command('CloseStream');
  expect(await client.closed).toMatchObject({ code: 1000 });
}

async function sendFile(file: Buffer): Promise<void> {
  const response = await fetch(`${service.url}/v1/listen?model=svc-asr-kikuyu-v1`, {
    method: 'POST',
    // An idle connection would be closed by the server while this process prepares the next, large file.
    headers: { authorization: `Token ${service.emulator.apiKey}`, connection: 'close' },
    body: Uint8Array.from(file),
  });
  expect(response.status).toBe(200);
}

test('the usage of the account is what the program counts, to the second', async () => {
  await listen(SENTENCE);
  await listen(SENTENCE, silence(1_500), SENTENCE);
  await sendFile(readFileSync(SPEECH_FILE));
  await expect.poll(billedS).toBeGreaterThan(8);
  expect(await consumedS()).toBe(billedS());
});

test('a minute of silence between two sentences costs nothing', async () => {
  const before = await consumedS();
  await listen(SENTENCE, silence(2_000), SENTENCE);
  const short = (await consumedS()) - before;
  await listen(SENTENCE, silence(60_000), SENTENCE);
  expect((await consumedS()) - before - short).toBe(short);
});

test('an hour of silence in a file costs a second a minute, because it is decoded', async () => {
  const before = await consumedS();
  await sendFile(wavOf(silence(3_600_000)));
  expect((await consumedS()) - before).toBeGreaterThanOrEqual(58);
  expect((await consumedS()) - before).toBeLessThanOrEqual(62);
});
