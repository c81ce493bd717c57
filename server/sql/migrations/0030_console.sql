-- People who sign in to the console, how they prove who they are, and their usage by day.

create table console_users (
  id uuid primary key,
  account_id uuid not null references accounts,
  email text not null check (length(email) between 3 and 320),
  role text not null check (role in ('owner', 'member')),
  language text not null default 'en' check (language in ('en', 'sw')),
  -- May decide about the waitlist. Given and taken by svc-admin alone.
  is_operator boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  first_sign_in_at timestamptz,
  -- The letter that tells them the way in: what is not sent yet waits here, so that no crash loses it.
  welcomed_at timestamptz,
  welcome_tries integer not null default 0,
  welcome_after timestamptz not null default clock_timestamp()
);
-- One address, one account: a sign-in code then says whose console opens.
create unique index console_users_email on console_users (lower(email));
create index console_users_account on console_users (account_id);
create index console_users_unwelcomed on console_users (welcome_after) where welcomed_at is null;

-- One row for each code asked for, whether the address is known or not: both are then handled alike.
-- Codes, addresses and askers are kept as keyed hashes.
create table sign_in_codes (
  challenge uuid primary key,
  user_id uuid references console_users on delete cascade,
  email_hash bytea not null check (length(email_hash) = 32),
  source_hash bytea not null check (length(source_hash) = 32),
  code_hash bytea not null check (length(code_hash) = 32),
  tries smallint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index sign_in_codes_email on sign_in_codes (email_hash, created_at);
create index sign_in_codes_source on sign_in_codes (source_hash, created_at);
create index sign_in_codes_created on sign_in_codes (created_at);

create table console_sessions (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id uuid not null references console_users on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index console_sessions_user on console_sessions (user_id);
create index console_sessions_expiry on console_sessions (expires_at);

-- Charged audio by day, made from the ledger a piece at a time: `rolled_seq` is the last transaction counted.
create table usage_days (
  account_id uuid not null references accounts,
  day date not null,
  model text not null,
  billable_ms bigint not null check (billable_ms >= 0),
  sessions bigint not null check (sessions >= 0),
  primary key (account_id, day, model)
);
create table usage_rolled (
  account_id uuid primary key references accounts,
  rolled_seq bigint not null default 0
);

alter table waitlist add column language text not null default 'en' check (language in ('en', 'sw'));
