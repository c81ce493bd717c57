import type { Incident } from '@svc-asr/protocol/service-status.ts';
import type { Queryable } from '../../platform/database/db.ts';
import {
  queryRow,
  queryRows,
  statement,
  t,
  type RowOf,
} from '../../platform/database/statement.ts';

/** More than anybody reads. The others are in the audit log. */
const LISTED_MAX = 100;

const COLUMNS = {
  id: t.number(),
  text: t.text(),
  started_at: t.timestamp(),
  ended_at: t.nullable(t.timestamp()),
  updated_at: t.timestamp(),
};

const LIST = statement(
  `select id, text, started_at, ended_at, updated_at from incidents
    where coalesce(ended_at, clock_timestamp()) > clock_timestamp() - $1 * interval '1 day'
    order by started_at desc, id desc limit ${LISTED_MAX}`,
  COLUMNS,
);

export type IncidentRow = RowOf<typeof LIST>;

/** Incidents that touch the last days, newest first. */
export function listIncidents(db: Queryable, { days }: { days: number }): Promise<IncidentRow[]> {
  return queryRows(db, LIST, [days]);
}

const ADD = statement(
  `insert into incidents (text, started_at, ended_at) values ($1, coalesce($2, clock_timestamp()), $3)
    returning id, text, started_at, ended_at, updated_at`,
  COLUMNS,
);

export function addIncident(
  db: Queryable,
  { text, start, end }: { text: string; start: Date | null; end: Date | null },
): Promise<IncidentRow> {
  return queryRow(db, ADD, [text, start, end]);
}

const CHANGE = statement(
  `update incidents set text = coalesce($2, text), started_at = coalesce($3, started_at),
      ended_at = coalesce($4, ended_at), updated_at = clock_timestamp()
    where id = $1 returning id, text, started_at, ended_at, updated_at`,
  COLUMNS,
);

/** Null leaves a value as it is. Returns null if there is no such incident. */
export async function changeIncident(
  db: Queryable,
  change: { id: number; text: string | null; start: Date | null; end: Date | null },
): Promise<IncidentRow | null> {
  const { id, text, start, end } = change;
  const [row] = await queryRows(db, CHANGE, [id, text, start, end]);
  return row ?? null;
}

const REMOVE = statement('delete from incidents where id = $1 returning id', { id: t.number() });

/** Returns false if there is no such incident. */
export async function removeIncident(db: Queryable, id: number): Promise<boolean> {
  return (await queryRows(db, REMOVE, [id])).length > 0;
}

export function presentIncident(row: IncidentRow): Incident {
  return {
    ...row,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
  };
}
