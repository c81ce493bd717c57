import type { Queryable } from '../../src/platform/database/db.ts';

const HEADER = `-- The schema after all migrations, with the triggers and rights of functions/. Tables are in the order of their creation.
-- Made from the catalogue of a migrated database, to read and to compare. After a change, write it again:
--   npx vitest run core/server/test/operations/schema.test.ts -u
`;

/** Reads the schema of a migrated database. Texts are ordered by bytes, so that the locale of the database doesn't matter. */
export async function schemaText(db: Queryable): Promise<string> {
  const lines = async (sql: string): Promise<string[]> =>
    (await db.query<{ line: string }>(sql)).rows.map(({ line }) => line);
  const { rows: tables } = await db.query<Table>(TABLES);
  const parts: string[] = [
    HEADER,
    '-- Types',
    '',
    ...(await lines(DOMAINS)),
    ...(await lines(ENUMS)),
  ];
  for (const table of tables) parts.push('', ...(await tableText(db, table)));
  parts.push('', '-- Views', '', ...(await lines(VIEWS)));
  parts.push('', '-- Functions, and the roles that may call them', '', ...(await lines(FUNCTIONS)));
  return `${parts.join('\n')}\n`;
}

interface Table {
  readonly id: number;
  readonly opening: string;
  readonly closing: string;
}

async function tableText(db: Queryable, { id, opening, closing }: Table): Promise<string[]> {
  const lines = async (sql: string): Promise<string[]> =>
    (await db.query<{ line: string }>(sql, [id])).rows.map(({ line }) => line);
  const content = [...(await lines(COLUMNS)), ...(await lines(CONSTRAINTS))];
  return [
    opening,
    content.map((line) => `  ${line.replaceAll('\n', '\n  ')}`).join(',\n'),
    closing,
    ...(await lines(INDEXES)),
    ...(await lines(TRIGGERS)),
    ...(await lines(RIGHTS)),
  ];
}

const DOMAINS = `
  select concat_ws(' ', 'create domain', t.typname, 'as', format_type(t.typbasetype, t.typtypmod),
    string_agg(concat_ws(' ', 'constraint', c.conname, pg_get_constraintdef(c.oid, true)), ' ' order by c.conname))
    || ';' as line
  from pg_type t join pg_constraint c on c.contypid = t.oid
  where t.typnamespace = 'public'::regnamespace group by t.oid order by t.typname`;

const ENUMS = `
  select format('create type %s as enum (%s);', t.typname,
    string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)) as line
  from pg_type t join pg_enum e on e.enumtypid = t.oid
  where t.typnamespace = 'public'::regnamespace group by t.oid order by t.typname`;

const TABLES = `
  select c.oid::int as id,
    format('create %stable %s (', case c.relpersistence when 'u' then 'unlogged ' end, c.relname) as opening,
    format(')%s%s;', ' partition by ' || pg_get_partkeydef(c.oid),
      ' with (' || array_to_string(c.reloptions, ', ') || ')') as closing
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by c.oid`;

const COLUMNS = `
  select concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then 'not null' end,
    case a.attidentity when 'a' then 'generated always as identity' end,
    'default ' || pg_get_expr(d.adbin, d.adrelid)) as line
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped
  order by a.attnum`;

const CONSTRAINTS = `
  select format('constraint %s %s', conname, pg_get_constraintdef(oid, true)) as line
  from pg_constraint where conrelid = $1 and contype in ('p', 'u', 'f', 'c')
  order by array_position('{p,u,f,c}'::"char"[], contype), conname`;

const INDEXES = `
  select replace(pg_get_indexdef(i.indexrelid), ' public.', ' ') || ';' as line
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = $1
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
  order by c.relname`;

const TRIGGERS = `
  select pg_get_triggerdef(oid, true) || ';' as line
  from pg_trigger where tgrelid = $1 and not tgisinternal
  order by tgname`;

const RIGHTS = `
  select format('grant %s on %s to %s;', string_agg(g.rights, ', ' order by g.rights collate "C"), $1::regclass, g.grantee::regrole) as line
  from (
    select lower(t.privilege_type) as rights, t.grantee
    from pg_class c, aclexplode(c.relacl) t where c.oid = $1 and t.grantee <> c.relowner
    union all
    select format('%s (%s)', lower(t.privilege_type), string_agg(a.attname, ', ' order by a.attnum)), t.grantee
    from pg_attribute a, aclexplode(a.attacl) t where a.attrelid = $1 group by t.privilege_type, t.grantee
  ) g
  group by g.grantee order by g.grantee::regrole::text collate "C"`;

const VIEWS = `
  select format(E'create view %s as\\n%s', c.relname, pg_get_viewdef(c.oid, true)) as line
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' order by c.oid`;

const FUNCTIONS = `
  select concat_ws(' ', '--', format('%s(%s)', p.proname, pg_get_function_arguments(p.oid)),
    'returns', pg_get_function_result(p.oid), case when p.prosecdef then 'security definer' end,
    'to ' || (select string_agg(case g.grantee when 0 then 'public' else g.grantee::regrole::text end, ', '
        order by g.grantee::regrole::text collate "C")
      from aclexplode(p.proacl) g where g.grantee <> p.proowner)) as line
  from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.proname, pg_get_function_arguments(p.oid) collate "C"`;
