import { afterAll, describe, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { openLedgerFixture, type LedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { MUTANTS } from '@svc-asr/testing/ledger/ledger-mutants.ts';
import { BrokenPromise, PROMISES } from '@svc-asr/testing/ledger/ledger-promises.ts';
import { saveRows } from '@svc-asr/testing/postgres/restore-rows.ts';
import { plantInSql } from '@svc-asr/testing/postgres/mutate-function.ts';

/**
 * Breaks the ledger in many ways. Some check must detect each mutant. Mutants that change only functions share a database,
 * which is then as before; those that remove a guard have their own.
 */
const shared = await openLedgerFixture();
const restoreRows = await saveRows(shared.owner);
afterAll(() => shared.drop());

/**
 * Returns the first check that detects the mutant: the database's guards, the audit, or the promise
 * itself.
 */
async function firstDetector(
  fixture: LedgerFixture,
  promise: (fixture: LedgerFixture) => Promise<void>,
): Promise<string> {
  const broken = await promise(fixture).then(
    () => null,
    (error: Error) => error,
  );
  if (broken !== null && 'code' in broken && typeof broken.code === 'string') {
    // Class 23: a constraint, an index or one of our guards.
    return broken.code.startsWith('23') ? 'database' : `unexpected error: ${broken.message}`;
  }
  const violations = await findViolations(fixture.owner);
  if (violations.length > 0) return 'audit';
  if (broken instanceof BrokenPromise) return 'promise';
  return broken === null ? 'nobody' : `unexpected error: ${broken.message}`;
}

describe('unbroken', () => {
  test('every guarantee holds and the ledger is balanced', async () => {
    for (const [name, promise] of Object.entries(PROMISES)) {
      expect(await firstDetector(shared, promise), name).toBe('nobody');
    }
    await restoreRows();
  });
});

describe.for(MUTANTS)('$name', ({ changes, violates, detectedBy }) => {
  test(`is detected by the ${detectedBy}`, async () => {
    const isShared = changes.every((change) => 'in' in change);
    const fixture = isShared ? shared : await openLedgerFixture();
    const undo = await plantInSql(fixture.owner, changes);
    expect(await firstDetector(fixture, PROMISES[violates])).toBe(detectedBy);
    if (!isShared) return fixture.drop();
    await undo();
    await restoreRows();
  });
});
