import type { Queryable } from '@svc-asr/server/platform/database/db.ts';

/**
 * Gives a migrated database a clock that the caller sets. The functions stay as they are: a schema that precedes
 * pg_catalog in their search path has its own clock functions.
 */
const INSTALL = `
  create schema simulated;
  create function simulated.clock_timestamp() returns timestamptz language sql as
    $$ select to_timestamp(current_setting('simulated.now_ms')::float8 / 1000) $$;
  create function simulated.now() returns timestamptz language sql as
    $$ select simulated.clock_timestamp() $$;
  create function simulated.statement_timestamp() returns timestamptz language sql as
    $$ select simulated.clock_timestamp() $$;
  create function simulated.pg_postmaster_start_time() returns timestamptz language sql as
    $$ select to_timestamp(current_setting('simulated.started_ms')::float8 / 1000) $$;
  alter table accounts alter limit_changed_at set default simulated.clock_timestamp();
  alter table session_takeovers alter requested_at set default simulated.clock_timestamp();
  alter table session_end_requests alter requested_at set default simulated.clock_timestamp();
  do $$
  declare
    v_function regprocedure;
  begin
    for v_function in
      select oid::regprocedure from pg_proc
        where pronamespace = 'public'::regnamespace and proconfig::text like '%search_path%'
    loop
      execute format('alter function %s set search_path = simulated, public, pg_catalog, pg_temp', v_function);
    end loop;
  end
  $$`;

/** For every connection that uses the clock. */
const USE = 'set search_path = simulated, public, pg_catalog, pg_temp';

const SET = `select set_config('simulated.now_ms', $1, false), set_config('simulated.started_ms', $2, false)`;

export async function installClock(db: Queryable): Promise<void> {
  await db.query(INSTALL);
}

export async function useClock(db: Queryable): Promise<void> {
  await db.query(USE);
}

export async function setClock(
  db: Queryable,
  clock: { readonly nowMs: number; readonly startedAtMs: number },
): Promise<void> {
  await db.query(SET, [String(clock.nowMs), String(clock.startedAtMs)]);
}
