import { setAccountStatus } from '../../src/accounts/accounts.ts';
import { rawFrame } from '@svc-asr/testing/service/raw-frame.ts';
import {
  KIKUYU,
  startService,
  type Service,
  type Tenant,
} from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, describe, expect, test } from 'vitest';

/** Audio that was accepted before an offence or a suspension gets its final, or is not charged. */

// A recogniser that needs a moment, so that an offence right after a flush comes before the final.
const svc = await startService({ script: { texts: ['nĩ wega'], chunkMs: 100 } });
const stuck = await startService({ script: { texts: ['nĩ wega'], chunkMs: 60_000 } });
afterAll(() => Promise.all([svc.stop(), stuck.stop()]));

interface Offence {
  readonly name: string;
  readonly code: number;
  readonly reason: string;
  readonly commit: (client: StreamClient, input: { at: Service; tenant: Tenant }) => unknown;
}

const OFFENCES: readonly Offence[] = [
  {
    name: 'a text message that is too large',
    code: 1009,
    reason: 'message_too_large',
    commit: (client) => client.say('?'.repeat(17_000)),
  },
  {
    name: 'an undefined opcode',
    code: 1002,
    reason: 'protocol_error',
    commit: (client) => client.wire?.write(rawFrame({ opcode: 3, payload: Buffer.alloc(0) })),
  },
  {
    name: 'text that is not UTF-8',
    code: 1007,
    reason: 'invalid_utf8',
    commit: (client) => client.wire?.write(rawFrame({ opcode: 1, payload: Buffer.of(0xff) })),
  },
  {
    name: 'eleven invalid messages',
    code: 1008,
    reason: 'too_many_errors',
    commit: (client) => {
      for (let at = 0; at < 11; at += 1) client.say('?');
    },
  },
  {
    name: '20 flushes at once',
    code: 1008,
    reason: 'too_many_errors',
    commit: (client) => {
      for (let at = 0; at < 20; at += 1) client.say({ type: 'flush' });
    },
  },
  {
    name: 'a flood of messages',
    code: 1008,
    reason: 'too_many_messages',
    commit: (client) => {
      for (let at = 0; at < 150; at += 1) client.say({ type: 'config' });
    },
  },
  {
    name: 'a suspension',
    code: 4403,
    reason: 'account_inactive',
    commit: (_, { at, tenant }) =>
      setAccountStatus(at.database.pool, { id: tenant.accountId, status: 'suspended' }),
  },
];

async function offend(at: Service, { code, reason, commit }: Offence) {
  const tenant = await at.addTenant({ creditMs: 60_000 });
  const { body } = await at.createSession({ model: KIKUYU }, tenant);
  const client = await StreamClient.ready(body, { url: at.streamUrl });
  // In one packet, because a server whose recogniser is stuck stops reading.
  client.wire?.cork();
  client.send(speech({ ms: 1_150 })).say({ type: 'flush' });
  const committed = commit(client, { at, tenant });
  client.wire?.uncork();
  await committed;
  expect(await client.closed).toEqual({ code, reason });
  const { events } = client;
  expect(events.at(-1)).toMatchObject({ type: 'error', code: reason, fatal: true });
  return { client, session: () => sessionRow(at, body.id) };
}

async function sessionRow(at: Service, id: string) {
  const { rows } = await at.database.pool.query<{ status: string; billable_ms: number }>(
    'select status, billable_ms from sessions where id = $1',
    [id],
  );
  return rows[0];
}

describe.each(OFFENCES)('$name', (offence) => {
  test('the final comes before the close, and its audio is charged', async () => {
    const { client, session } = await offend(svc, offence);
    expect(client.ofType('final')[0]).toMatchObject({ text: 'nĩ wega', billable_ms: 2_000 });
    // On a slow machine the settlement may end after the close.
    await expect.poll(session).toEqual({ status: 'completed', billable_ms: 2_000 });
    const errors = client.ofType('error').filter(({ fatal }) => !fatal);
    expect(errors).toHaveLength(offence.reason === 'too_many_errors' ? 10 : 0);
  });

  test('audio whose final does not come is not charged', async () => {
    const { client, session } = await offend(stuck, offence);
    expect(client.ofType('final')).toEqual([]);
    await expect.poll(session).toEqual({ status: 'completed', billable_ms: 0 });
    const errors = client.ofType('error').filter(({ fatal }) => !fatal);
    expect(errors).toHaveLength(offence.reason === 'too_many_errors' ? 10 : 0);
  });
});

test('a frame that is too large: the final comes before the close, and its audio is charged', async () => {
  const { client, session } = await offend(svc, {
    name: 'a frame that is too large',
    code: 1009,
    reason: 'message_too_large',
    commit: (stream) => stream.send(Buffer.alloc(66_000)),
  });
  expect(client.ofType('final')).toMatchObject([{ text: 'nĩ wega', billable_ms: 2_000 }]);
  await expect.poll(session).toEqual({ status: 'completed', billable_ms: 2_000 });
});
