import { chromiumClient, pythonClient } from '@svc-asr/testing/service/foreign-clients.ts';
import { expect, test } from 'vitest';
import { slowCloses } from './close-scenes.ts';

/** After both close frames the server closes TCP, so clients report the close at once. */
test.each([
  ['Python websockets', async () => pythonClient(), { sendsInvalidUtf8: true }],
  ['Chromium', () => chromiumClient(), { sendsInvalidUtf8: false }],
])('%s reports each close of the server, typically within 100 ms', async (_, start, can) => {
  const client = await start();
  expect(await slowCloses(client, can)).toEqual([]);
  await client.stop();
});
