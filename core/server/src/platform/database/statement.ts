import type { Queryable } from './db.ts';

/** Column types, named after the PostgreSQL types that pg parses to the same JavaScript type. */
export type ColumnKind =
  | 'text'
  | 'number'
  | 'boolean'
  | 'timestamp'
  | 'bytes'
  | 'texts'
  | { readonly jsonOf: Statement<Columns> };

/** A column of a result. `T` is its JavaScript type; `null` is part of it if the column is nullable. */
export interface Column<T> {
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  /** Carries `T` for the compiler. Never set. */
  readonly type?: T;
}

export type Columns = Readonly<Record<string, Column<unknown>>>;

export type Row<C extends Columns> = {
  readonly [Name in keyof C]: C[Name] extends Column<infer T> ? T : never;
};

/** A row type of a declared statement: `RowOf<typeof FIND_ACCOUNT>`. */
export type RowOf<S> = S extends Statement<infer C> ? Row<C> : never;

/**
 * SQL with the columns of its result. The row type is derived from `columns`, and a test prepares every statement and
 * compares `columns` with PostgreSQL's description of the result (docs/dependencies.md).
 */
export interface Statement<C extends Columns> {
  readonly text: string;
  readonly columns: C;
  /** Prepared once per connection under this name. For statements on the path of a request. */
  readonly name?: string;
}

/** The types of columns. */
export const t = {
  /** The literal types of `T` are not checked: PostgreSQL knows only that the column is text. */
  text: <T extends string = string>(): Column<T> => column('text'),
  number: (): Column<number> => column('number'),
  boolean: (): Column<boolean> => column('boolean'),
  timestamp: (): Column<Date> => column('timestamp'),
  bytes: (): Column<Buffer> => column('bytes'),
  texts: <T extends string = string>(): Column<readonly T[]> => column('texts'),
  /** A row that the statement returns as one JSON value. `source` returns the same row as columns. */
  json: <C extends Columns>(source: Statement<C>): Column<JsonRow<C>> => column({ jsonOf: source }),
  nullable: <T>(of: Column<T>): Column<T | null> => ({ ...of, nullable: true }),
};

/** JSON has no dates, so timestamps arrive as text. */
type JsonRow<C extends Columns> = {
  readonly [Name in keyof Row<C>]: Row<C>[Name] extends Date ? string : Row<C>[Name];
};

const declared: Statement<Columns>[] = [];

/** Declares a statement, once, when its module is loaded. */
export function statement<const C extends Columns>(
  sql: string,
  columns: C,
  options: { readonly name?: string } = {},
): Statement<C> {
  const made = { text: sql, columns, ...options };
  declared.push(made);
  return made;
}

/** Every statement of the loaded modules, for the test that checks them. */
export function declaredStatements(): readonly Statement<Columns>[] {
  return declared;
}

export async function queryRows<C extends Columns>(
  db: Queryable,
  { name, text }: Statement<C>,
  values: unknown[] = [],
): Promise<Row<C>[]> {
  const config = name === undefined ? { text, values } : { name, text, values };
  const { rows } = await db.query<Row<C>>(config);
  return rows;
}

/** The single row of a statement that always returns one, such as a function with OUT parameters. */
export async function queryRow<C extends Columns>(
  db: Queryable,
  query: Statement<C>,
  values: unknown[] = [],
): Promise<Row<C>> {
  const [row] = await queryRows(db, query, values);
  if (row === undefined) throw new Error('The database returned no row.');
  return row;
}

function column<T>(kind: ColumnKind): Column<T> {
  return { kind, nullable: false };
}
