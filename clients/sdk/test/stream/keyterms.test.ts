import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import type { ConfigAckEvent } from '@svc-asr/protocol';
import { openStream } from '@svc-asr/sdk/stream';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { clientOf, KIKUYU } from '../emulator-client.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['nĩ wega mũno'] });
});
afterAll(() => emulator.stop());
afterEach(() => emulator.faults.assertAllMet());

test('every session gets the keyterms of its first audio, and the next list where it was set', async () => {
  emulator.faults.arm({ name: 'engine-crash', ms: 3_000, times: 1 });
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    keyterms: ['Wanjirũ', '3G'],
  });
  const acks: ConfigAckEvent[] = [];
  stream.on('config_ack', (event) => acks.push(event));
  await stream.write(new Uint8Array(64_000));
  await eventually(() => acks.length === 1);
  expect(acks[0]?.keyterms).toEqual({
    taken: ['wanjirũ'],
    refused: [{ index: 1, reason: 'unsupported_characters' }],
  });
  stream.setKeyterms(['Kĩambu']);
  await eventually(() => acks.length === 2);
  expect(acks[1]).toMatchObject({ effective: 'next_utterance', keyterms: { taken: ['kĩambu'] } });
  await stream.write(new Uint8Array(64_000));
  await eventually(() => acks.length === 4);
  expect(acks.slice(2).map(({ keyterms }) => keyterms?.taken)).toEqual([['wanjirũ'], ['kĩambu']]);
  await stream.finish();
});

test('audio that was written before setKeyterms keeps its list, though it is sent later', async () => {
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    keyterms: ['Wanjirũ'],
  });
  const acks: ConfigAckEvent[] = [];
  stream.on('config_ack', (event) => acks.push(event));
  // There is no session yet, so all of it waits.
  void stream.write(new Uint8Array(64_000));
  void stream.flush();
  stream.setKeyterms(['Otieno']);
  void stream.write(new Uint8Array(64_000));
  await stream.finish();
  expect(acks.map(({ keyterms }) => keyterms?.taken)).toEqual([['wanjirũ'], ['otieno']]);
  expect(acks[1]?.effective).toBe('now');
});

test('setKeyterms before the session is ready replaces the list that the session gets', async () => {
  const created = Promise.withResolvers<void>();
  const stream = openStream({
    getSession: async () => {
      const session = await clientOf(emulator).sessions.create({
        model: KIKUYU,
        maxAudioSeconds: 60,
      });
      created.resolve();
      return session;
    },
    keyterms: ['Wanjirũ'],
  });
  const acks: ConfigAckEvent[] = [];
  stream.on('config_ack', (event) => acks.push(event));
  // The socket can't be open yet: no I/O happens between the session and this line.
  await created.promise;
  stream.setKeyterms(['Otieno']);
  await stream.write(new Uint8Array(64_000));
  await stream.finish();
  expect(acks.map(({ keyterms }) => keyterms?.taken)).toEqual([['otieno']]);
});

test('a stream without keyterms reports no config_ack', async () => {
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    language: 'ki',
  });
  let acks = 0;
  stream.on('config_ack', () => (acks += 1));
  await stream.write(new Uint8Array(64_000));
  await stream.finish();
  expect(acks).toBe(0);
});
