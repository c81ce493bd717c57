-- How much of its credit an account has left, for the emails at 50, 20 and 5 %. Not part of the ledger.
create table credit_levels (
  account_id uuid primary key references accounts,
  -- The credit after the last addition.
  base_ms bigint not null,
  -- The lowest level that was reported since then.
  level smallint not null default 100,
  -- The transaction up to which the level was checked.
  seen_seq bigint not null
);
-- Existing accounts start with the credit they have, so that an upgrade sends no emails.
insert into credit_levels (account_id, base_ms, seen_seq)
  select id, available_ms + reserved_ms, last_seq from accounts;

-- Emails about credit that are still to be sent.
create table credit_notices (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts,
  recipient uuid not null references console_users on delete cascade,
  -- So many percent are left.
  level smallint not null,
  email_due_at timestamptz not null default clock_timestamp(),
  email_tries integer not null default 0
);
create index credit_notices_due on credit_notices (email_due_at);
create index credit_notices_account on credit_notices (account_id);
create index credit_notices_recipient on credit_notices (recipient);
