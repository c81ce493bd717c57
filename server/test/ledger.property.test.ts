import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findViolations } from '../src/ledger/audit.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startWalk } from './ledger-walk.ts';
import { stepArbitrary } from './ledger-steps.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test(
  'whatever happens to an account, the ledger says what plain arithmetic says, and its books are right',
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
