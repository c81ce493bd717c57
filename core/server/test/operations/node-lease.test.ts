import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { NodeLease, type NodeLeaseInput } from '../../src/nodes/node-lease.ts';
import { LEASE_MS } from '../../src/nodes/nodes.ts';
import { createLog } from '../../src/platform/observe/log.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';

/** The lease of a node, renewed by a thread of its own. */
let database: TestDatabase;
let lease: NodeLease | null = null;
let logged = '';
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await lease?.retire();
  lease = null;
  logged = '';
});
afterAll(() => database.drop());

const load = { active: 3, capacity: 8 };

async function register(overrides: Partial<NodeLeaseInput> = {}): Promise<NodeLease> {
  lease = await NodeLease.register({
    db: database.as('svc_node'),
    database: { url: database.url, role: 'svc_node' },
    log: createLog({ level: 'info', destination: { write: (line) => void (logged += line) } }),
    id: `node-${randomUUID()}`,
    publicUrl: 'wss://node.example/v1/asr/stream',
    models: ['svc-asr-kikuyu-v1'],
    load: () => load,
    ...overrides,
  });
  return lease;
}

interface NodeRow {
  readonly renewed_ms_ago: number;
  readonly held: boolean;
  readonly draining: boolean;
  readonly active: number;
  readonly epoch: number;
}

async function nodeRow(id: string): Promise<NodeRow | undefined> {
  const { rows } = await database.pool.query<NodeRow>(
    `select extract(epoch from clock_timestamp() - renewed_at)::float8 * 1000 as renewed_ms_ago,
      lease_until > clock_timestamp() as held, draining, active, epoch from nodes where id = $1`,
    [id],
  );
  return rows[0];
}

/** The fault itself: nothing else runs in this thread meanwhile. */
function hang(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a node serves only after its thread has renewed the lease, however long the thread takes to start', async () => {
  const id = `node-${randomUUID()}`;
  await register({ id });
  const { rows } = await database.pool.query(
    'select renewed_at > started_at as renewed from nodes where id = $1',
    [id],
  );
  expect(rows).toEqual([{ renewed: true }]);
});

test('an event loop that hangs keeps its lease until it counts as dead, and holds it again if it returns', async () => {
  const dead = await register({ loopDeadMs: 1_000 });
  const { id: deadId } = dead.holder();
  const held = await register();
  const { id } = held.holder();
  await eventually(async () => (await nodeRow(id))?.active === load.active);
  // The renewal after LEASE_MS tells placement. It comes within two seconds.
  hang(LEASE_MS + 3_000);
  // Synchronously after the hang, before any message of the threads has been read.
  expect([held.isHeld, dead.isHeld]).toEqual([true, false]);
  expect(() => dead.holder()).toThrow('temporarily');
  const [row, deadRow] = await Promise.all([nodeRow(id), nodeRow(deadId)]);
  expect(deadRow).toMatchObject({ held: false });
  expect(row).toMatchObject({ held: true, active: load.active });
  expect(row?.renewed_ms_ago).toBeLessThan(LEASE_MS);
  // Placement must not choose a node that hangs.
  expect(row?.draining).toBe(true);
  await eventually(async () => (await nodeRow(id))?.draining === false);
  await eventually(() => dead.isHeld);
  expect(await nodeRow(deadId)).toMatchObject({ held: true });
  expect(logged).toContain('The event loop hung');
  await dead.retire();
});

test('a draining node tells placement at once', async () => {
  const held = await register();
  const { id } = held.holder();
  await held.drain();
  expect(await nodeRow(id)).toMatchObject({ draining: true });
});

test('a process whose node id another one took holds no lease', async () => {
  const first = await register();
  const { id } = first.holder();
  const second = await register({ id });
  await eventually(() => !first.isHeld);
  expect(second.isHeld).toBe(true);
  expect(logged).toContain('Another process registered under this node id');
  await first.retire();
  expect(await nodeRow(id)).toMatchObject({ held: true });
});

test('registers again when the database does not know the process', async () => {
  const held = await register();
  const { id, epoch } = held.holder();
  await database.pool.query('delete from nodes where id = $1', [id]);
  await eventually(async () => (await nodeRow(id))?.held === true);
  expect(held.isHeld).toBe(true);
  expect(held.holder().epoch).toBeGreaterThanOrEqual(epoch);
});

/** A thread that reports what it is told to. */
class ScriptedThread extends EventEmitter {
  postMessage(): void {
    setImmediate(() => this.emit('exit'));
  }
  terminate(): Promise<void> {
    return Promise.resolve();
  }
}

async function registerScripted(): Promise<{ held: NodeLease; thread: ScriptedThread }> {
  const thread = new ScriptedThread();
  const held = await register({
    startThread: () => {
      setImmediate(() => thread.emit('message', { outcome: 'renewed' }));
      return thread;
    },
  });
  return { held, thread };
}

test('serves on when an older database refused the lease and the complete one has returned', async () => {
  const { held, thread } = await registerScripted();
  const { id, epoch } = held.holder();
  thread.emit('message', { outcome: 'refused', epoch });
  // The next refusal is handled after the first one, and this node is then gone.
  await eventually(async () => {
    await database.pool.query('delete from nodes where id = $1', [id]);
    thread.emit('message', { outcome: 'refused', epoch: held.holder().epoch });
    return logged.includes('registered again');
  });
  expect(logged).not.toContain('Another process registered');
  expect(held.isHeld).toBe(true);
});

test.each([
  ['registers again when an earlier process with a higher epoch has died', 60, true],
  ['gives way to a later process even if its lease has expired', 0, false],
])('%s', async (_, startedSecondsAgo, isHeld) => {
  const { held, thread } = await registerScripted();
  const { id, epoch } = held.holder();
  // As in a complete database that returns after this process registered in an older one.
  await database.pool.query(
    `update nodes set epoch = epoch + 1, lease_until = clock_timestamp() - interval '1 second',
      started_at = clock_timestamp() - $2 * interval '1 second' where id = $1`,
    [id, startedSecondsAgo],
  );
  thread.emit('message', { outcome: 'refused', epoch });
  await eventually(() =>
    logged.includes(isHeld ? 'registered again' : 'Another process registered'),
  );
  expect(held.isHeld).toBe(isHeld);
});

test('registers again when the database knows its epoch as that of a process that has retired', async () => {
  const { held, thread } = await registerScripted();
  const { id, epoch } = held.holder();
  await database.pool.query('update nodes set retired_at = now() where id = $1', [id]);
  thread.emit('message', { outcome: 'refused', epoch });
  await eventually(() => held.holder().epoch === epoch + 1);
  expect(await nodeRow(id)).toMatchObject({ held: true, epoch: epoch + 1 });
  expect(logged).not.toContain('Another process registered');
});
