import type { Queryable } from '@svc-asr/server/platform/database/db.ts';
import type { LedgerState } from './model/state.ts';

/** All rows of the ledger, each as one line of text, by table. Two equal databases have equal rows. */
export type LedgerRows = Readonly<Record<string, readonly string[]>>;

/**
 * The compared columns, named as in SQL. The order in which one call ends several sessions is not part of the contract,
 * so transactions are compared without their numbers.
 */
const COLUMNS = {
  accounts: `id, status, concurrency_limit, limit_changed_at, allowed_origins, granted_ms, available_ms,
    reserved_ms, consumed_ms, last_seq, move_state, move_cell`,
  sessions: `account_id, id, key_id, model, status, reserved_ms, remaining_ms, websocket_url, node_id,
    node_epoch, upgrade_id, samples, audio_ms, billable_ms, created_at, expires_at, claimed_at, completed_at, swept_at,
    continues, replayed_samples, slot is null as over`,
  txn: `account_id, kind, session_id, request_id, reason, available_ms, reserved_ms, consumed_ms, created_at`,
  claim_log: 'account_id, session_id, upgrade_id, node_id, node_epoch, claimed_at',
  claims_given_back: 'account_id, session_id, upgrade_id, given_back_at',
  idempotency: `account_id, encode(key_hash, 'hex') as key_hash, encode(request_hash, 'hex') as request_hash,
    session_id, expires_at`,
  nodes: `id, epoch, public_url, models, capacity, active, draining, started_at, renewed_at, lease_until, retired_at`,
  ledger_marks: 'process_id, node_id, position, marked_at, refused_at, accepted_at',
  session_end_requests: 'session_id, requested_at',
  live_audio: 'node_id, node_epoch, session_ids, samples',
  lost_audio: 'account_id, session_id, lengths, digests, lost_at',
  session_takeovers: 'session_id, account_id, proof, requested_at',
  sweeper_watch: 'last_tick_at, quiet_until',
} as const;

export async function readRows(db: Queryable): Promise<LedgerRows> {
  const tables: [string, string[]][] = [];
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const { rows } = await db.query<Record<string, unknown>>(`select ${columns} from ${table}`);
    tables.push([table, rows.map(asLine).toSorted()]);
  }
  return Object.fromEntries(tables);
}

export function modelRows(state: LedgerState): LedgerRows {
  const rows: Record<keyof typeof COLUMNS, readonly object[]> = {
    accounts: [...state.accounts.values()].map((account) => without(account, 'moveId')),
    sessions: [...state.sessions.values()].map(({ slot, ...session }) => ({
      ...session,
      over: slot === null,
    })),
    txn: state.txns.map((txn) => without(txn, 'seq', 'availableAfterMs')),
    claim_log: [...state.claims.values()],
    claims_given_back: [...state.givenBack.values()],
    idempotency: [...state.idempotency.values()],
    nodes: [...state.nodes.values()],
    ledger_marks: [...state.marks.values()],
    session_end_requests: [...state.endRequests].map(([sessionId, requestedAt]) => ({
      sessionId,
      requestedAt,
    })),
    live_audio: [...state.liveAudio.values()].map(({ samples, ...report }) => ({
      ...report,
      sessionIds: [...samples.keys()],
      samples: [...samples.values()],
    })),
    lost_audio: [...state.lostAudio.values()],
    session_takeovers: [...state.takeovers.values()],
    sweeper_watch: [state.watch],
  };
  return Object.fromEntries(
    Object.entries(rows).map(([table, list]) => [
      table,
      list.map((row) => asLine({ ...row })).toSorted(),
    ]),
  );
}

/** Sorted by name, with times as milliseconds and names as in TypeScript. */
function asLine(row: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(row).map(([name, value]) => [camelCase(name), plain(value)]);
  return JSON.stringify(fields.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Numbers as text, because a bigint in an array arrives as text. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return String(value.getTime());
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'number' ? String(value) : value;
}

function without(row: object, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}
