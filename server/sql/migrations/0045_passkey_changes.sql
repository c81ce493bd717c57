-- Changing passkeys takes a passkey. An operator's first one takes a code from svc-admin, and all operators get an email.

-- Codes of svc-admin, as hashes. Only the newest one of a person works.
create table operator_enrolments (
  id uuid primary key,
  user_id uuid not null references console_users on delete cascade,
  code_hash bytea not null check (length(code_hash) = 32),
  tries smallint not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index operator_enrolments_user on operator_enrolments (user_id, created_at);

-- Emails about passkeys and operators that are still to be sent. Written in the transaction of the change.
create table security_notices (
  id uuid primary key default gen_random_uuid(),
  recipient uuid not null references console_users on delete cascade,
  about uuid not null references console_users on delete cascade,
  kind text not null check (kind in (
    'passkey_added', 'passkey_removed', 'operator_added', 'operator_removed', 'enrolment_created')),
  created_at timestamptz not null default clock_timestamp(),
  email_due_at timestamptz not null default clock_timestamp(),
  email_tries integer not null default 0
);
create index security_notices_due on security_notices (email_due_at);
create index security_notices_recipient on security_notices (recipient);
create index security_notices_about on security_notices (about);
