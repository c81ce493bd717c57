import { randomUUID } from 'node:crypto';
import { afterAll } from 'vitest';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { setCell } from '../../src/accounts/cell.ts';
import { createPool, type Pool } from '../../src/platform/database/db.ts';
import { linkCells } from '../../src/cells/link-cells.ts';
import { moveAccount, type Move } from '../../src/cells/move-account.ts';

export interface TestCell {
  readonly id: string;
  readonly service: Service;
  /** With the svc_mover role. */
  readonly mover: Pool;
}

async function startCell(id: string): Promise<TestCell> {
  const database = await createTestDatabase();
  await setCell(database.pool, id);
  const service = await startService({ database });
  const mover = createPool({ url: database.url, role: 'svc_mover', maxConnections: 1 });
  return { id, service, mover };
}

/** Starts two cells that share a secret. */
export async function startCells(one: string, other: string): Promise<[TestCell, TestCell]> {
  const cells = await Promise.all([startCell(one), startCell(other)]);
  await linkCells(cells[0].service.database.pool, cells[1].service.database.pool);
  return cells;
}

/** Starts k1 and k2 for the tests of a file. */
export async function openCells(): Promise<[TestCell, TestCell]> {
  const cells = await startCells('k1', 'k2');
  afterAll(() => Promise.all(cells.map(stopCell)));
  return cells;
}

export async function stopCell({ service, mover }: TestCell): Promise<void> {
  await mover.end();
  await service.stop();
  await service.database.drop();
}

export function moveBetween(
  from: TestCell,
  to: TestCell,
  accountId: string,
  options: Partial<Pick<Move, 'drainMs' | 'onStep'>> = {},
): Promise<void> {
  return moveAccount({
    source: from.mover,
    target: to.mover,
    accountId,
    targetCell: to.id,
    drainMs: 5_000,
    onStep: () => {},
    ...options,
  });
}

/** Runs and settles one session of this length. */
export async function spend(cell: TestCell, accountId: string, seconds: number): Promise<void> {
  const { ledger } = cell.service.deps;
  const { rows } = await cell.service.database.pool.query<{ id: string; epoch: number }>(
    'select id, epoch from nodes limit 1',
  );
  const node = { nodeId: rows[0]?.id ?? '', nodeEpoch: rows[0]?.epoch ?? 0 };
  const reserved = await ledger.reserve({
    accountId,
    keyId: null,
    model: 'svc-asr-kikuyu-v1',
    requestedMs: 60_000,
    idempotencyKey: randomUUID(),
    node: { id: node.nodeId, url: 'wss://node.example' },
  });
  if (reserved.outcome !== 'reserved') throw new Error(reserved.outcome);
  const session = { sessionId: reserved.session.id, accountId, ...node };
  await ledger.claim(session);
  await ledger.close({ ...session, status: 'completed', samples: seconds * 16_000 });
}

/** Returns the violations in both cells. */
export async function violations(...cells: readonly TestCell[]): Promise<string[]> {
  const found = await Promise.all(
    cells.map(({ service }) => findViolations(service.database.pool)),
  );
  return found.flat();
}
