-- Who changed what. Written by triggers in the transaction of the change itself, and never changed
-- afterwards. It names people and things by id only, so an erasure need not touch it.

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  account_id uuid references accounts,
  -- The database login. No caller can choose it.
  login text not null,
  -- The signed-in person the console acted for. Null: the login itself.
  actor_id uuid,
  action text not null,
  target text,
  before jsonb,
  after jsonb,
  request_id text
);
create index audit_log_account on audit_log (account_id, id);
create index audit_log_target on audit_log (target, action);

-- Where a change came from. Personal data: deleted after 90 days, and with the account.
create table audit_sources (
  audit_id bigint primary key references audit_log,
  account_id uuid,
  source text not null,
  at timestamptz not null default clock_timestamp()
);
create index audit_sources_at on audit_sources (at);
create index audit_sources_account on audit_sources (account_id);
