import { setAccountStatus } from '../../src/accounts/accounts.ts';
import { LIMITS } from '@svc-asr/protocol';
import { audioFrame, rawFrame, textFrame } from '@svc-asr/testing/service/raw-frame.ts';
import {
  KIKUYU,
  startService,
  type Service,
  type Tenant,
} from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';

/**
 * Every offence and the suspension, with the close code and the charge: audio that was accepted before gets its final, or
 * is not charged.
 */

// A recogniser that needs a moment, so that an offence right after a flush comes before the final.
const svc = await startService({ script: { texts: ['nĩ wega'], chunkMs: 100 } });
const stuck = await startService({ script: { texts: ['nĩ wega'], chunkMs: 60_000 } });
afterAll(() => Promise.all([svc.stop(), stuck.stop()]));

interface Offence {
  readonly name: string;
  readonly code: number;
  readonly reason: string;
  /** Errors before the fatal one. Default 0. */
  readonly errors?: number;
  readonly commit: (client: StreamClient, input: { at: Service; tenant: Tenant }) => unknown;
}

const EMPTY = Buffer.alloc(0);
/** Few enough that a slow machine reads a message faster than the allowance for it is refilled. */
const FRAGMENTED = Buffer.concat([
  rawFrame({ opcode: 2, payload: EMPTY, fin: false }),
  ...Array.from({ length: 10 }, () => rawFrame({ opcode: 0, payload: EMPTY, fin: false })),
  rawFrame({ opcode: 0, payload: EMPTY }),
]);

/** Sends raw bytes, this many times. */
function wire(bytes: Buffer, count = 1): Offence['commit'] {
  return (client) => client.wire?.write(Buffer.concat(Array.from({ length: count }, () => bytes)));
}

const BEYOND_ALLOWANCE = LIMITS.textMessagesBurst + 25;
const LARGE = { code: 1009, reason: 'message_too_large' };
const BROKEN = { code: 1002, reason: 'protocol_error' };
const ERRORS = { code: 1008, reason: 'too_many_errors', errors: 10 };
/** Tiny frames are counted like messages. */
const TINY = { code: 1008, reason: 'too_many_errors' };
const MESSAGES = { code: 1008, reason: 'too_many_messages' };

const OFFENCES: readonly Offence[] = [
  {
    name: 'a text message that is too large',
    ...LARGE,
    commit: (client) => client.say('?'.repeat(17_000)),
  },
  { name: 'an undefined opcode', ...BROKEN, commit: wire(rawFrame({ opcode: 3, payload: EMPTY })) },
  {
    // RFC 6455 forbids it.
    name: 'a frame without a mask',
    ...BROKEN,
    commit: wire(rawFrame({ opcode: 2, payload: Buffer.alloc(2), mask: false })),
  },
  {
    name: 'text that is not UTF-8',
    code: 1007,
    reason: 'invalid_utf8',
    commit: wire(rawFrame({ opcode: 1, payload: Buffer.of(0xff) })),
  },
  {
    name: 'a close reason that is not UTF-8',
    code: 1007,
    reason: 'invalid_utf8',
    commit: wire(rawFrame({ opcode: 8, payload: Buffer.of(0x03, 0xe8, 0xff) })),
  },
  {
    name: 'a length of 16 bits where 7 would do',
    ...BROKEN,
    commit: wire(rawFrame({ opcode: 2, payload: Buffer.alloc(125), lengthBits: 16 })),
  },
  {
    name: 'a length of 64 bits where 16 would do',
    ...BROKEN,
    commit: wire(rawFrame({ opcode: 2, payload: Buffer.alloc(65_535), lengthBits: 64 })),
  },
  { name: 'eleven invalid messages', ...ERRORS, commit: wire(textFrame('?'), 11) },
  {
    name: '20 flushes at once',
    ...ERRORS,
    commit: wire(textFrame(JSON.stringify({ type: 'flush' })), 20),
  },
  { name: 'empty audio frames', ...TINY, commit: wire(audioFrame(EMPTY), BEYOND_ALLOWANCE) },
  {
    name: 'two-byte audio frames',
    ...TINY,
    commit: wire(audioFrame(Buffer.alloc(2)), BEYOND_ALLOWANCE),
  },
  {
    name: 'a flood of messages',
    ...MESSAGES,
    commit: wire(textFrame(JSON.stringify({ type: 'config' })), 150),
  },
  {
    name: 'a flood of pings',
    ...MESSAGES,
    commit: wire(rawFrame({ opcode: 9, payload: EMPTY }), 150),
  },
  {
    name: 'a flood of pongs',
    ...MESSAGES,
    commit: wire(rawFrame({ opcode: 10, payload: EMPTY }), 150),
  },
  {
    name: 'a suspension',
    code: 4403,
    reason: 'account_inactive',
    commit: (_, { at, tenant }) =>
      setAccountStatus(at.database.pool, { id: tenant.accountId, status: 'suspended' }),
  },
];

/** A server whose recogniser is stuck doesn't read that much. */
const LARGE_OFFENCES: readonly Offence[] = [
  {
    name: 'a frame that is too large',
    ...LARGE,
    commit: (client) => client.send(Buffer.alloc(66_000)),
  },
  {
    name: 'a frame far above the limit',
    ...LARGE,
    commit: (client) => client.send(Buffer.alloc(1_000_000)),
  },
  { name: 'audio frames in fragments', ...TINY, commit: wire(FRAGMENTED, BEYOND_ALLOWANCE) },
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
  expect(events.at(-1)).toMatchObject({
    type: 'error',
    code: reason,
    fatal: true,
    close_code: code,
  });
  return { client, session: () => sessionRow(at, body.id) };
}

async function sessionRow(at: Service, id: string) {
  const { rows } = await at.database.pool.query<{ status: string; billable_ms: number }>(
    'select status, billable_ms from sessions where id = $1',
    [id],
  );
  return rows[0];
}

function errorsBefore(client: StreamClient): number {
  return client.ofType('error').filter(({ fatal }) => !fatal).length;
}

test.each([...OFFENCES, ...LARGE_OFFENCES])(
  '$name: the final comes before the close, and its audio is charged',
  async (offence) => {
    const { client, session } = await offend(svc, offence);
    expect(client.ofType('final')[0]).toMatchObject({ text: 'nĩ wega', billable_ms: 2_000 });
    // On a slow machine the settlement may end after the close.
    await expect.poll(session).toEqual({ status: 'completed', billable_ms: 2_000 });
    expect(errorsBefore(client)).toBe(offence.errors ?? 0);
  },
);

// Each waits for a final that doesn't come.
test.concurrent.for(OFFENCES)(
  '$name: audio whose final does not come is not charged',
  async (offence, { expect }) => {
    const { client, session } = await offend(stuck, offence);
    expect(client.ofType('final')).toEqual([]);
    await expect.poll(session).toEqual({ status: 'completed', billable_ms: 0 });
    expect(errorsBefore(client)).toBe(offence.errors ?? 0);
  },
);
