-- Charged audio by day, model and API key, added up from the ledger like usage_days, which processes of the previous
-- version still read.
create table usage_by_key (
  account_id uuid not null references accounts,
  day date not null,
  model text not null,
  -- The public id of the key. Empty: the playground.
  key_id text not null,
  billable_ms bigint not null check (billable_ms >= 0),
  sessions bigint not null check (sessions >= 0),
  primary key (account_id, day, model, key_id)
);
create table usage_by_key_rolled (
  account_id uuid primary key references accounts,
  rolled_seq bigint not null default 0
);
