import type { Connection, Submittable } from 'pg';
import type { Client } from '../../src/platform/database/db.ts';
import {
  type Column,
  type ColumnKind,
  type Columns,
  type Statement,
} from '../../src/platform/database/statement.ts';

/** The PostgreSQL types that pg parses to the JavaScript type of a column. Enums count as text. */
const TYPES: Readonly<Record<Exclude<ColumnKind, object>, readonly string[]>> = {
  text: ['text', 'uuid', 'name', 'character varying', 'enum'],
  number: ['smallint', 'integer', 'bigint', 'real', 'double precision'],
  boolean: ['boolean'],
  timestamp: ['timestamp with time zone'],
  bytes: ['bytea'],
  texts: ['text[]'],
};

interface Field {
  readonly name: string;
  readonly tableID: number;
  readonly columnID: number;
  readonly dataTypeID: number;
}

/**
 * Prepares every statement and lists differences from its declared columns: invalid SQL, names, types,
 * and nullability of columns that come straight from a table.
 */
export async function checkStatements(
  db: Client,
  statements: readonly Statement<Columns>[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const statement of statements) {
    const about = (problem: string) => problems.push(`${problem}: ${oneLine(statement.text)}`);
    let fields: readonly Field[];
    try {
      fields = await describe(db, statement.text);
    } catch (error) {
      about(error instanceof Error ? error.message : String(error));
      continue;
    }
    const returned = new Map(fields.map((field) => [field.name, field]));
    for (const name of returned.keys()) {
      if (statement.columns[name] === undefined) about(`returns ${name}, which is not declared`);
    }
    const outerJoin = /\b(left|right|full) join\b/.test(statement.text);
    for (const [name, column] of Object.entries(statement.columns)) {
      const field = returned.get(name);
      if (field === undefined) about(`does not return ${name}`);
      else for (const problem of await compare(db, { column, field, outerJoin })) about(problem);
    }
  }
  return problems;
}

async function compare(
  db: Client,
  input: { column: Column<unknown>; field: Field; outerJoin: boolean },
): Promise<string[]> {
  const { column, field } = input;
  const { type, notNull } = await lookUp(db, field);
  const problems: string[] = [];
  const allowed = typeof column.kind === 'object' ? ['json', 'jsonb'] : TYPES[column.kind];
  if (!allowed.includes(type)) {
    problems.push(`${field.name} is ${type}, declared as ${allowed.join(' or ')}`);
  }
  if (notNull === false && !column.nullable) problems.push(`${field.name} can be null`);
  if (notNull === true && column.nullable && !input.outerJoin) {
    problems.push(`${field.name} is never null, declared as nullable`);
  }
  return problems;
}

/** `notNull` is undefined for an expression: PostgreSQL doesn't know. */
async function lookUp(
  db: Client,
  field: Field,
): Promise<{ type: string; notNull: boolean | undefined }> {
  const { rows } = await db.query<{ type: string; not_null: boolean | null }>(
    `select case t.typtype when 'e' then 'enum' else format_type(t.oid, null) end as type,
        a.attnotnull as not_null
      from pg_type t left join pg_attribute a on a.attrelid = $2 and a.attnum = $3
      where t.oid = $1`,
    [field.dataTypeID, field.tableID, field.columnID],
  );
  return { type: rows[0]?.type ?? 'unknown', notNull: rows[0]?.not_null ?? undefined };
}

/** Parses a statement and returns the columns of its result. Nothing is executed. */
function describe(db: Client, text: string): Promise<readonly Field[]> {
  return new Promise((resolve, reject) => {
    let fields: readonly Field[] = [];
    const query: Submittable & Record<string, unknown> = {
      submit(connection: Connection) {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription(message: { fields: readonly Field[] }) {
        fields = message.fields;
      },
      handleError: reject,
      handleReadyForQuery() {
        resolve(fields);
      },
    };
    db.query(query);
  });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
