-- Which cell this database is, and accounts on their way from one cell to another.

do $$
begin
  begin
    if not exists (select from pg_roles where rolname = 'svc_mover') then
      create role svc_mover nologin;
    end if;
  exception when duplicate_object or unique_violation then
    null;
  end;
end
$$;

-- Empty: a service with one cell, whose keys name none.
create table cell (
  only_row boolean primary key default true check (only_row),
  id text not null check (id ~ '^[0-9a-z]{2}$')
);

-- The peppers that this cell's processes know, by fingerprint. An account moves only to a cell that can verify its keys.
create table cell_peppers (
  pepper_id smallint primary key check (pepper_id between 0 and 255),
  fingerprint bytea not null check (length(fingerprint) = 8)
);

-- moving: no new sessions, those there are end. sealed: nothing changes any more. moved: the account lives elsewhere.
-- arriving: a copy that is not open yet. copying: never committed.
create type move_state as enum ('moving', 'sealed', 'moved', 'copying', 'arriving');

alter table accounts
  -- Null: the account lives here.
  add column move_state move_state,
  -- The last move, to or from `move_cell`.
  add column move_id uuid,
  add column move_cell text;
