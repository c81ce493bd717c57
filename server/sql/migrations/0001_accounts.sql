-- Who may spend, how much is left, and with which keys. Integer milliseconds of audio everywhere.
-- What holds for one value is a domain or an enum, checked when that value is written; a CHECK on the table is
-- read and run again for every change of any row, so those are kept for what holds between columns.

create domain milliseconds as bigint check (value >= 0);
create domain label as text check (length(value) <= 200);
create domain reason as text check (length(value) between 1 and 500);
create domain email_address as text check (length(value) between 3 and 320);
create domain place as integer check (value between 1 and 10000);

create type account_status as enum ('active', 'suspended');
create type waitlist_status as enum ('waiting', 'approved', 'declined');

create table accounts (
  id uuid primary key,
  name label not null,
  email email_address,
  status account_status not null default 'active',
  concurrency_limit place not null default 1,
  -- Sessions admitted before a limit was lowered may live on; audits need to know when that was.
  limit_changed_at timestamptz not null default clock_timestamp(),
  -- Origins a browser may stream from; null means any.
  allowed_origins text[],
  granted_ms milliseconds not null default 0,
  available_ms milliseconds not null default 0,
  reserved_ms milliseconds not null default 0,
  consumed_ms milliseconds not null default 0,
  -- The number of the account's last transaction: the sequence has no gaps.
  last_seq bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  constraint balances_agree check (granted_ms = available_ms + reserved_ms + consumed_ms)
) with (fillfactor = 50); -- every session updates this row twice; free space on the page keeps that off the indexes

-- The directory of keys: found by its public id before the account is known, so it stays whole when the rest is
-- partitioned by account.
create table api_keys (
  id text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  account_id uuid not null references accounts,
  hmac bytea not null check (length(hmac) = 32),
  name label not null default '',
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
  email email_address not null,
  name label not null default '',
  purpose text not null default '' check (length(purpose) <= 2000),
  status waitlist_status not null default 'waiting',
  account_id uuid references accounts,
  created_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  decided_by label,
  check ((status = 'waiting') = (decided_at is null)),
  check ((status = 'approved') = (account_id is not null))
);

create unique index waitlist_email on waitlist (lower(email));
create index waitlist_waiting on waitlist (created_at) where status = 'waiting';
