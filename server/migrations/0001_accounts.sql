-- Who may spend, how much is left, and with which keys. Integer milliseconds of audio everywhere.

create table accounts (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  email text check (length(email) <= 320),
  status text not null default 'active' check (status in ('active', 'suspended')),
  concurrency_limit integer not null default 1 check (concurrency_limit between 1 and 10000),
  -- Sessions admitted before a limit was lowered may live on; audits need to know when that was.
  limit_changed_at timestamptz not null default clock_timestamp(),
  -- Origins a browser may stream from; null means any.
  allowed_origins text[],
  granted_ms bigint not null default 0 check (granted_ms >= 0),
  available_ms bigint not null default 0 check (available_ms >= 0),
  reserved_ms bigint not null default 0 check (reserved_ms >= 0),
  consumed_ms bigint not null default 0 check (consumed_ms >= 0),
  -- The number of the account's last transaction: the sequence has no gaps.
  last_seq bigint not null default 0 check (last_seq >= 0),
  created_at timestamptz not null default clock_timestamp(),
  constraint balances_agree check (granted_ms = available_ms + reserved_ms + consumed_ms)
) with (fillfactor = 50); -- every session updates this row twice; free space on the page keeps that off the indexes

-- The directory of keys: found by its public id before the account is known, so it stays whole when the rest is
-- partitioned by account.
create table api_keys (
  id text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  account_id uuid not null references accounts,
  hmac bytea not null check (length(hmac) = 32),
  name text not null default '' check (length(name) <= 200),
  -- Models the key may use; null means all.
  scopes text[] check (cardinality(scopes) > 0),
  -- 1 or 2 while it counts as live: two keys, so that they can be rotated, and the index refuses a third.
  slot smallint check (slot in (1, 2)),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  check (revoked_at is null or slot is null)
) with (fillfactor = 80);

create unique index api_keys_live on api_keys (account_id, slot) where slot is not null;
create index api_keys_account on api_keys (account_id);

create table waitlist (
  id uuid primary key,
  email text not null check (length(email) between 3 and 320),
  name text not null default '' check (length(name) <= 200),
  purpose text not null default '' check (length(purpose) <= 2000),
  status text not null default 'waiting' check (status in ('waiting', 'approved', 'declined')),
  account_id uuid references accounts,
  created_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  decided_by text,
  check ((status = 'waiting') = (decided_at is null)),
  check ((status = 'approved') = (account_id is not null))
);

create unique index waitlist_email on waitlist (lower(email));
create index waitlist_waiting on waitlist (created_at) where status = 'waiting';
