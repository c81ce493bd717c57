-- Cells sign what they hand over in a move, so that the mover's login alone can't create credit, history or people.

-- A secret that this cell shares with another one. No role can read it.
create table cell_links (
  cell text primary key check (cell ~ '^[0-9a-z]{2}$'),
  key bytea not null check (length(key) = 32),
  linked_at timestamptz not null default clock_timestamp()
);

-- The copy that the current transaction receives: a hash over all rows so far, and the account as the source described it.
create table account_imports (
  account_id uuid primary key,
  move_id uuid not null,
  from_cell text not null,
  chain bytea not null,
  content jsonb not null
);

-- Moves that arrived here. Each is used once, so an old copy can't be imported again after the account left.
create table account_arrivals (
  move_id uuid primary key,
  account_id uuid not null references accounts,
  from_cell text not null,
  arrived_at timestamptz not null default clock_timestamp()
);
create index account_arrivals_account on account_arrivals (account_id);

-- Entries that another cell wrote, and the login that imported them. `login` is the one that the other cell recorded.
alter table audit_log add column imported_from text, add column imported_by text,
  add constraint imported_by_someone check ((imported_from is null) = (imported_by is null));
