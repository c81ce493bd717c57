import { afterEach, describe, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/audit.ts';
import { openLedgerFixture, type LedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { MUTANTS, type Change } from '../support/ledger-mutants.ts';
import { BrokenPromise, PROMISES } from '../support/ledger-promises.ts';
import { mutateFunction } from '@svc-asr/testing/postgres/mutate-function.ts';

/** Breaks the ledger in many ways, each in its own database. Some check must detect each mutant. */
const opened: LedgerFixture[] = [];
afterEach(async () => {
  for (const fixture of opened.splice(0)) await fixture.drop();
});

async function open(): Promise<LedgerFixture> {
  const fixture = await openLedgerFixture();
  opened.push(fixture);
  return fixture;
}

/** Applies all changes of one function at once, because a partial change may not be valid SQL. */
async function apply(fixture: LedgerFixture, changes: readonly Change[]): Promise<void> {
  const byFunction = new Map<string, { from: string; to: string }[]>();
  for (const change of changes) {
    if ('sql' in change) await fixture.owner.query(change.sql);
    else byFunction.set(change.in, [...(byFunction.get(change.in) ?? []), change]);
  }
  for (const [name, edits] of byFunction) await mutateFunction(fixture.owner, name, edits);
}

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
    const fixture = await open();
    for (const [name, promise] of Object.entries(PROMISES)) {
      expect(await firstDetector(fixture, promise), name).toBe('nobody');
    }
  });
});

describe.for(MUTANTS)('$name', (mutant) => {
  test(`is detected by the ${mutant.detectedBy}`, async () => {
    const fixture = await open();
    await apply(fixture, mutant.changes);
    expect(await firstDetector(fixture, PROMISES[mutant.violates])).toBe(mutant.detectedBy);
  });
});
