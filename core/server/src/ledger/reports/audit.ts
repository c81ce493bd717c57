import { readdir, readFile } from 'node:fs/promises';
import type { Queryable } from '../../platform/database/db.ts';

/** The invariants. Each file is one query that must return no rows, at any time and under any load. */
const INVARIANTS = new URL('../../../sql/audit/', import.meta.url);
/** These hold only while a sweeper runs. */
const LIVENESS_PREFIX = 'liveness-';
/** Enough to diagnose a fault. A broken ledger may have millions. */
const ROWS_SHOWN = 20;

export interface Invariant {
  readonly name: string;
  /** The invariant in words. */
  readonly about: string;
  readonly sql: string;
}

export interface Finding {
  readonly invariant: Invariant;
  /** At most twenty. Empty if the invariant holds. */
  readonly violations: readonly Readonly<Record<string, unknown>>[];
  readonly tookMs: number;
}

export async function readInvariants(): Promise<Invariant[]> {
  const names = (await readdir(INVARIANTS)).filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (file) => {
      const sql = await readFile(new URL(file, INVARIANTS), 'utf8');
      const about = sql
        .split('\n')
        .filter((line) => line.startsWith('-- '))
        .map((line) => line.slice('-- '.length))
        .join(' ');
      return { name: file.slice(0, -'.sql'.length), about, sql: sql.trim().replace(/;$/, '') };
    }),
  );
}

/** `safety` skips invariants that depend on a running sweeper. */
export async function audit(
  db: Queryable,
  options: { which: 'all' | 'safety' },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const invariant of chosen(await readInvariants(), options.which)) {
    const began = performance.now();
    const { rows } = await db.query<Record<string, unknown>>(
      `select * from (\n${invariant.sql}\n) found limit ${ROWS_SHOWN}`,
    );
    findings.push({ invariant, violations: rows, tookMs: performance.now() - began });
  }
  return findings;
}

/**
 * Checks all invariants in one statement and returns one line per violation. For tests that check after
 * every step.
 */
export async function findViolations(
  db: Queryable,
  options: { which: 'all' | 'safety' } = { which: 'safety' },
): Promise<string[]> {
  return queryViolations(db, {
    name: `audit_${options.which}`,
    text: await violationsQuery(options.which),
  });
}

/**
 * The same on a connection where views replace the tables. Not prepared, because a prepared statement
 * would stay bound to the views.
 */
export async function findViolationsOfViews(db: Queryable): Promise<string[]> {
  return queryViolations(db, { text: await violationsQuery('safety') });
}

async function queryViolations(
  db: Queryable,
  query: { name?: string; text: string },
): Promise<string[]> {
  const { rows } = await db.query<{ name: string; row: string }>(query);
  return rows.map(({ name, row }) => `${name}: ${row}`);
}

async function violationsQuery(which: 'all' | 'safety'): Promise<string> {
  const parts = chosen(await invariantsOnce(), which).map(
    ({ name, sql }) =>
      `select '${name}' as name, to_jsonb(found)::text as row from (\n${sql}\n) found`,
  );
  return `select * from (${parts.join('\nunion all\n')}) all_found limit ${ROWS_SHOWN}`;
}

let invariants: Promise<Invariant[]> | undefined;
function invariantsOnce(): Promise<Invariant[]> {
  invariants ??= readInvariants();
  return invariants;
}

function chosen(all: readonly Invariant[], which: 'all' | 'safety'): readonly Invariant[] {
  return which === 'all' ? all : all.filter(({ name }) => !name.startsWith(LIVENESS_PREFIX));
}
