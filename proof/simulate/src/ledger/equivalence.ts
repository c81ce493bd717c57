import type { Client } from '@svc-asr/server/platform/database/db.ts';
import type { QueryResultRow } from 'pg';
import { errorCode, type Outcome, type Recorded } from './recording.ts';
import { readRows, type LedgerRows } from './rows.ts';
import { setClock } from './simulated-clock.ts';

/** The first thing that PostgreSQL did differently. */
export interface Difference {
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
}

const TABLES = `accounts, sessions, txn, claim_log, claims_given_back, idempotency, nodes, ledger_marks, session_end_requests, session_takeovers, lost_audio,
  live_audio,
  sweeper_watch, audit_log`;

/** Empties the database. Only possible with the guards off, which is why it needs a superuser. */
async function empty(db: Client): Promise<void> {
  await db.query(`
    set synchronous_commit = off;
    begin;
    set local session_replication_role = replica;
    truncate ${TABLES} cascade;
    insert into sweeper_watch default values;
    commit`);
}

/**
 * Asks a real PostgreSQL everything that the simulator asked its database, at the same times of the clock. Returns the
 * first answer that differs, then any row that differs at the end, or null.
 */
export async function findDifference(
  db: Client,
  recorded: readonly Recorded[],
  expectedRows: LedgerRows,
): Promise<Difference | null> {
  const replay = new Replay(db);
  await empty(db);
  for (const [at, entry] of recorded.entries()) {
    if (entry.do === 'restore') await replay.restart(effective(recorded, at));
    const difference = await replay.step(entry);
    if (difference !== null) return difference;
  }
  const rows = await readRows(db);
  for (const [table, expected] of Object.entries(expectedRows)) {
    const actual = (rows[table] ?? []).map((line) => replay.translate(line));
    const missing = expected.filter((line) => !actual.includes(line));
    const extra = actual.filter((line) => !expected.includes(line));
    if (missing.length === 0 && extra.length === 0) continue;
    return { what: `rows of ${table}`, expected: missing.join('\n'), actual: extra.join('\n') };
  }
  return null;
}

/** The entries that the state after entry `upTo` consists of. */
function effective(recorded: readonly Recorded[], upTo: number): Recorded[] {
  let kept: Recorded[] = [];
  /** The effective entries after each entry so far. */
  const states: Recorded[][] = [];
  for (const entry of recorded.slice(0, upTo + 1)) {
    kept = entry.do === 'restore' ? (states[entry.kept - 1] ?? []) : [...kept, entry];
    states.push(kept);
  }
  return kept;
}

class Replay {
  readonly #db: Client;
  #startedAtMs = 0;
  /** Ids that the database chooses itself, by the id that the recorded database chose. */
  readonly #chosenIds = new Map<string, string>();

  constructor(db: Client) {
    this.#db = db;
  }

  async step(entry: Recorded): Promise<Difference | null> {
    if (entry.do === 'restart') this.#startedAtMs = entry.nowMs;
    if (entry.do !== 'call') return null;
    const { nowMs, call, answer: expected } = entry;
    const actual = await this.#ask(nowMs, call);
    this.#learn(expected, actual);
    const told = { expected: show(expected, call.text), actual: show(actual, call.text) };
    if (told.expected === this.translate(told.actual)) return null;
    return { what: `${call.text} ${JSON.stringify(call.values)} at ${nowMs}`, ...told };
  }

  /** Builds an older state up again. */
  async restart(entries: readonly Recorded[]): Promise<void> {
    await empty(this.#db);
    const startedAtMs = this.#startedAtMs;
    for (const entry of entries) await this.step(entry);
    this.#startedAtMs = startedAtMs;
  }

  translate(text: string): string {
    let translated = text;
    for (const [recordedId, id] of this.#chosenIds) {
      translated = translated.replaceAll(id, recordedId);
    }
    return translated;
  }

  async #ask(nowMs: number, call: { text: string; values: readonly unknown[] }): Promise<Outcome> {
    await setClock(this.#db, { nowMs, startedAtMs: this.#startedAtMs });
    const values = call.values.map((value) =>
      typeof value === 'string' ? (this.#chosenIds.get(value) ?? value) : value,
    );
    try {
      const { rows, rowCount } = await this.#db.query<QueryResultRow>({ text: call.text, values });
      return { rows, rowCount: rowCount ?? 0 };
    } catch (error) {
      return { error: errorCode(error) };
    }
  }

  #learn(expected: Outcome, actual: Outcome): void {
    const [recordedId, id] = [expected, actual].map((outcome) =>
      'rows' in outcome ? outcome.rows[0]?.['freeze_account'] : undefined,
    );
    if (typeof recordedId === 'string' && typeof id === 'string') {
      this.#chosenIds.set(recordedId, id);
    }
  }
}

/** Equal outcomes have equal texts. Without an order in the statement, rows may come in any. */
function show(outcome: Outcome, text: string): string {
  if ('error' in outcome) return `error ${outcome.error}`;
  const lines = outcome.rows.map((row) => JSON.stringify(row, asPlain));
  return `${outcome.rowCount} ${(text.includes('order by') ? lines : lines.toSorted()).join(' ')}`;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** Columns may come in any order, and times in any notation. */
function asPlain(_: string, value: unknown): unknown {
  if (typeof value === 'string' && ISO_TIME.test(value)) return Date.parse(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
