import { afterEach, describe, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/audit.ts';
import { openBooks, type Books } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { MUTANTS, type Change } from '../support/ledger-mutants.ts';
import { BrokenPromise, PROMISES } from '../support/ledger-promises.ts';
import { mutateFunction } from '@svc-asr/testing/postgres/mutate-function.ts';

/**
 * The ledger is broken on purpose, each time in a database of its own, and something must notice.
 */
const opened: Books[] = [];
afterEach(async () => {
  for (const books of opened.splice(0)) await books.drop();
});

async function open(): Promise<Books> {
  const books = await openBooks();
  opened.push(books);
  return books;
}

/** All changes of one function at once: halfway it need not be SQL. */
async function apply(books: Books, changes: readonly Change[]): Promise<void> {
  const byFunction = new Map<string, { from: string; to: string }[]>();
  for (const change of changes) {
    if ('sql' in change) await books.owner.query(change.sql);
    else byFunction.set(change.in, [...(byFunction.get(change.in) ?? []), change]);
  }
  for (const [name, edits] of byFunction) await mutateFunction(books.owner, name, edits);
}

/**
 * The database refuses first; then the books are audited; then the caller sees whether the promise
 * was kept.
 */
async function whoNotices(books: Books, promise: (books: Books) => Promise<void>): Promise<string> {
  const broken = await promise(books).then(
    () => null,
    (error: Error) => error,
  );
  if (broken !== null && 'code' in broken && typeof broken.code === 'string') {
    // Class 23: a constraint, an index or one of our guards.
    return broken.code.startsWith('23') ? 'database' : `an accident: ${broken.message}`;
  }
  const violations = await findViolations(books.owner);
  if (violations.length > 0) return 'audit';
  if (broken instanceof BrokenPromise) return 'promise';
  return broken === null ? 'nobody' : `an accident: ${broken.message}`;
}

describe('unbroken', () => {
  test('every guarantee holds and the ledger is balanced', async () => {
    const books = await open();
    for (const [name, promise] of Object.entries(PROMISES)) {
      expect(await whoNotices(books, promise), name).toBe('nobody');
    }
  });
});

describe.for(MUTANTS)('$name', (mutant) => {
  test(`is noticed by the ${mutant.noticedBy}`, async () => {
    const books = await open();
    await apply(books, mutant.changes);
    expect(await whoNotices(books, PROMISES[mutant.attacks])).toBe(mutant.noticedBy);
  });
});
