import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/audit.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { startWalk } from '@svc-asr/testing/ledger/random-walk.ts';
import { stepArbitrary } from '@svc-asr/testing/ledger/walk-steps.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test(
  'after any sequence of operations the ledger matches a simple model, and every invariant holds',
  { timeout: 120_000 },
  async () => {
    const auditor = database.as('svc_auditor');
    const service = database.as('svc_all');
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 15, maxLength: 40 }), async (steps) => {
        const walk = await startWalk({ owner: database.pool, service });
        await walk.step({ do: 'grant', ms: 120_000 });
        for (const step of steps) {
          await walk.step(step);
          expect(await findViolations(auditor)).toEqual([]);
        }
      }),
      { numRuns: 15, endOnFailure: false },
    );
  },
);
