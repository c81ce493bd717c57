import { nodeClient } from '@svc-asr/testing/service/foreign-client.ts';
import { expect, test } from 'vitest';
import { slowCloses } from './close-scenes.ts';

/** After both close frames the server closes TCP, so clients report the close at once. */
test("Node's built-in WebSocket reports each close of the server, typically within 100 ms", async () => {
  expect(await slowCloses(nodeClient())).toEqual([]);
});
