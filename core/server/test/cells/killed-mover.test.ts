import { expect, test } from 'vitest';
import { readResidence } from '../../src/cells/residence.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { KILL_POINTS, runMover, type KillPoint } from '@svc-asr/testing/cells/killable-mover.ts';
import { moveBetween, spend, openCells, violations } from './two-cells.ts';

const [k1, k2] = await openCells();

/** The cell that serves the account if the mover is killed before this step. For other steps, neither does. */
const SERVING: Partial<Record<KillPoint, string[]>> = { freeze: ['k1'], done: ['k2'] };

async function servedBy(accountId: string): Promise<string[]> {
  const states = await Promise.all(
    [k1, k2].map(async (cell) => ({
      id: cell.id,
      ...(await readResidence(cell.service.database.pool, accountId)),
    })),
  );
  return states.filter(({ state }) => state === null).map(({ id }) => id);
}

test.for(KILL_POINTS)(
  'killed before %s, the account is intact, and the next run finishes the move',
  async (killBefore) => {
    const { accountId, apiKey } = await k1.service.addTenant({ creditMs: 60_000 });
    await spend(k1, accountId, 5);
    const order = {
      killBefore,
      sourceUrl: k1.service.database.url,
      targetUrl: k2.service.database.url,
      accountId,
      targetCell: 'k2',
      drainMs: 5_000,
    };
    expect(await runMover(order)).toBe('killed');
    expect(await servedBy(accountId)).toEqual(SERVING[killBefore] ?? []);
    expect(await violations(k1, k2)).toEqual([]);

    await moveBetween(k1, k2, accountId);
    expect(await servedBy(accountId)).toEqual(['k2']);
    await spend(k2, accountId, 3);
    const usage = await k2.service.usage({ apiKey });
    expect(usage.body).toMatchObject({ available_ms: 52_000, reserved_ms: 0, consumed_ms: 8_000 });
    const here = await createLedger(k1.service.database.pool).balance(accountId);
    expect(here).toMatchObject({ consumedMs: 5_000 });
    expect(await violations(k1, k2)).toEqual([]);
  },
);
