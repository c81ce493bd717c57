-- The schema of the first release: accounts, keys, sessions, the ledger, nodes, the console, cells and logs.
-- All amounts are integer milliseconds of audio. Functions, triggers and grants are in ../functions/.
-- ../schema.sql shows the tables after all migrations.

-- ---------------------------------------------------------------------------------------------------------------------
-- Roles: one for each job. They can't log in. A deployment grants them to its own logins, and 90_grants.sql says what
-- each may do. Roles belong to the whole server, so another database may have created them, or be creating them now.

do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'svc_api', 'svc_node', 'svc_sweeper', 'svc_console', 'svc_sign_in', 'svc_auditor', 'svc_operator', 'svc_mover',
    'svc_all'
  ] loop
    begin
      if not exists (select from pg_roles where rolname = v_role) then
        execute format('create role %I nologin', v_role);
      end if;
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
  -- A single process does the work of all these roles.
  begin
    grant svc_api, svc_node, svc_sweeper, svc_console, svc_sign_in to svc_all;
  exception when unique_violation then
    null;
  end;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Values. A domain or an enum is checked when its value is written. A check of a table runs for every change of any of
-- its columns, so tables check only what holds between columns.

create domain milliseconds as bigint check (value >= 0);
create domain label as text check (length(value) <= 200);
create domain reason as text check (length(value) between 1 and 500);
create domain slot_number as integer check (value between 1 and 10000);
create domain reservation_ms as integer check (value between 1000 and 300000 and value % 1000 = 0);
create domain sha256_hash as bytea check (length(value) = 32);
-- Lower-case ASCII, as src/accounts/people/email-address.ts returns it. PostgreSQL and JavaScript change the case of other
-- letters differently, so a comparison of their results could mistake one person for another.
create domain email_address as text
  check (length(value) between 3 and 320)
  constraint email_is_normal check (
    octet_length(value) = length(value) and value !~ '[\x01-\x20\x7f]' and value = lower(value collate "C"));

create type account_status as enum ('active', 'suspended');
create type waitlist_status as enum ('waiting', 'approved', 'declined');
create type session_status as enum ('reserved', 'active', 'completed', 'failed', 'expired');
create type txn_kind as enum ('grant', 'adjust', 'reserve', 'complete', 'fail', 'expire', 'settle_late');
-- moving: no new sessions, and open ones end. sealed: nothing changes any more. moved: another cell has the account.
-- arriving: a copy that is not open yet. copying: only inside a transaction.
create type move_state as enum ('moving', 'sealed', 'moved', 'copying', 'arriving');

-- ---------------------------------------------------------------------------------------------------------------------
-- Accounts

-- Customers and their balances.
create table accounts (
  id uuid primary key,
  name label not null,
  email email_address,
  status account_status not null default 'active',
  concurrency_limit slot_number not null default 1,
  -- Sessions admitted before the limit was lowered may continue. Audits need to know when that was.
  limit_changed_at timestamptz not null default clock_timestamp(),
  -- Origins from which a browser may stream. Null: any.
  allowed_origins text[],
  granted_ms milliseconds not null default 0,
  available_ms milliseconds not null default 0,
  reserved_ms milliseconds not null default 0,
  consumed_ms milliseconds not null default 0,
  -- The number of the account's last transaction. The numbers have no gaps.
  last_seq bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  -- Null: the account is in this cell.
  move_state move_state,
  -- The last move, to or from `move_cell`.
  move_id uuid,
  move_cell text,
  constraint accounts_balance_adds_up check (granted_ms = available_ms + reserved_ms + consumed_ms)
) with (fillfactor = 50); -- Every session updates this row twice. With free space on the page, no index changes.

-- People who asked for an account.
create table waitlist (
  id uuid primary key,
  email email_address not null,
  name label not null default '',
  purpose text not null default '' check (length(purpose) <= 2000),
  language text not null default 'en' check (language in ('en', 'sw')),
  status waitlist_status not null default 'waiting',
  account_id uuid references accounts,
  created_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  decided_by label,
  decision_reason text check (length(decision_reason) <= 500),
  -- The credit that an operator granted with the approval.
  granted_ms bigint check (granted_ms > 0),
  constraint waitlist_decided_has_time check ((status = 'waiting') = (decided_at is null)),
  constraint waitlist_approved_has_account check ((status = 'approved') = (account_id is not null))
);
create unique index waitlist_email on waitlist (email);
create index waitlist_waiting on waitlist (created_at) where status = 'waiting';
create index waitlist_status on waitlist (status, created_at, id);

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys

-- API keys, found by their public id before the account is known.
create table api_keys (
  id text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  account_id uuid not null references accounts,
  hmac bytea not null check (length(hmac) = 32),
  -- The pepper of the hash, so that peppers can be replaced one key at a time.
  pepper_id smallint not null default 0 check (pepper_id between 0 and 255),
  name label not null default '',
  -- Models that the key may use. Null: all.
  scopes text[] check (cardinality(scopes) > 0),
  -- 1 or 2 while the key is live. An account has two live keys at most, so that it can rotate them.
  live_number smallint check (live_number in (1, 2)),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint api_keys_revoked_is_not_live check (revoked_at is null or live_number is null)
) with (fillfactor = 80);
create unique index api_keys_live on api_keys (account_id, live_number) where live_number is not null;
create index api_keys_account on api_keys (account_id);

-- ---------------------------------------------------------------------------------------------------------------------
-- Sessions

-- Reservations and the streams that used them. account_id leads the key, so the table can be partitioned by account.
create table sessions (
  account_id uuid not null references accounts,
  id uuid not null,
  key_id text,
  model text not null,
  status session_status not null default 'reserved',
  -- The slot of the account that the session takes while it is live.
  slot slot_number,
  reserved_ms reservation_ms not null,
  -- The credit available right after the reservation: a replay must return the same.
  remaining_ms milliseconds not null,
  websocket_url text not null,
  -- The node it was placed on. Once active, the process that has it.
  node_id text not null,
  node_epoch bigint,
  -- The upgrade that spent the credential. It may repeat the claim if the response was lost.
  upgrade_id uuid,
  samples bigint not null default 0,
  audio_ms integer not null default 0,
  billable_ms integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  claimed_at timestamptz,
  completed_at timestamptz,
  -- When the sweeper failed it because its node seemed lost. The node may still settle it for a while (ADR 0027).
  swept_at timestamptz,
  primary key (account_id, id),
  constraint sessions_slot_while_live check (
    (status in ('reserved', 'active')) = (slot is not null)
    and (status in ('reserved', 'active')) = (completed_at is null)),
  -- A credential is spent before it expires. Only a claimed session can receive audio or complete.
  constraint sessions_claimed_before_expiry check (
    case when claimed_at is null then status not in ('active', 'completed') and samples = 0
      else claimed_at < expires_at and upgrade_id is not null and node_epoch is not null end),
  -- Only completed sessions are billed. A failed one is our fault and free.
  constraint sessions_billed_by_samples check (
    samples between 0 and reserved_ms * 16
    and audio_ms = (samples + 15) / 16
    and case
      when status <> 'completed' then billable_ms = 0
      -- The credit was returned, so only what is still available can be charged.
      when swept_at is not null then billable_ms % 1000 = 0
        and billable_ms between 0 and least(reserved_ms, (samples + 15999) / 16000 * 1000)
      else billable_ms = least(reserved_ms, (samples + 15999) / 16000 * 1000)
    end),
  constraint sessions_swept_has_ended check (swept_at is null or status in ('completed', 'failed'))
) with (fillfactor = 50);
-- Refuses a second session in a slot, even if a lock is forgotten.
create unique index sessions_live on sessions (account_id, slot) where slot is not null;
-- For the failures of the last hour: few rows, read every few seconds.
create index sessions_failed on sessions (completed_at) where status = 'failed';

-- Idempotency keys of reservations.
create table idempotency (
  account_id uuid not null,
  key_hash sha256_hash not null,
  request_hash sha256_hash not null,
  session_id uuid not null,
  expires_at timestamptz not null,
  primary key (account_id, key_hash)
) with (fillfactor = 80);
create index idempotency_expiry on idempotency (expires_at);

-- Spent credentials. The primary key refuses a second claim of a session.
create table claim_log (
  account_id uuid not null,
  session_id uuid not null,
  upgrade_id uuid not null,
  node_id text not null,
  node_epoch bigint not null,
  claimed_at timestamptz not null,
  primary key (account_id, session_id)
);

-- Sessions that an operator wants to end. A node checks its sessions with every renewal of its lease.
create table session_end_requests (
  session_id uuid primary key,
  account_id uuid not null references accounts,
  requested_at timestamptz not null default clock_timestamp()
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Ledger

-- Double-entry transactions. The four buckets are fixed, so the entries of a transaction are columns of one row, and a
-- plain check keeps their sum at zero. `granted_ms` is the contra side.
create table txn (
  account_id uuid not null references accounts,
  seq bigint not null,
  kind txn_kind not null,
  session_id uuid,
  -- The operator's id of a grant or adjustment. A repeated one is applied once.
  request_id uuid,
  actor label,
  reason reason,
  granted_ms bigint not null,
  available_ms bigint not null,
  reserved_ms bigint not null,
  consumed_ms bigint not null,
  available_after_ms milliseconds not null,
  reserved_after_ms milliseconds not null,
  consumed_after_ms milliseconds not null,
  created_at timestamptz not null,
  primary key (account_id, seq),
  constraint txn_entries_sum_to_zero check (granted_ms + available_ms + reserved_ms + consumed_ms = 0),
  -- An operator posts grants and adjustments. All other transactions move the credit of a session.
  constraint txn_fields_of_kind check (
    case when kind in ('grant', 'adjust')
      then session_id is null and request_id is not null and actor <> '' and reason is not null
      else session_id is not null and granted_ms = 0 end)
);
-- A session is reserved once, ends once and is charged late once at most. session_id leads, so that an operator who has
-- only a session's id finds its account.
create unique index txn_session on txn (session_id, account_id, (kind = 'reserve'), (kind = 'settle_late'))
  where session_id is not null;
create unique index txn_request on txn (account_id, request_id) where request_id is not null;

-- The same transactions with one row per entry.
create view entry as
  select t.account_id, t.seq, e.bucket, e.amount_ms
  from txn t, lateral (values
    ('granted', t.granted_ms), ('available', t.available_ms), ('reserved', t.reserved_ms),
    ('consumed', t.consumed_ms)) as e (bucket, amount_ms)
  where e.amount_ms <> 0;

-- Charged audio by UTC day, model and API key, added up from the transactions.
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

-- The last transaction of each account that usage_by_key includes.
create table usage_by_key_rolled (
  account_id uuid primary key references accounts,
  rolled_seq bigint not null default 0
);

-- How much of its credit an account has left, for the emails at 50, 20 and 5 %.
create table credit_levels (
  account_id uuid primary key references accounts,
  -- The credit after the last addition.
  base_ms bigint not null,
  -- The lowest level that was reported since then.
  level smallint not null default 100,
  -- The last transaction that was checked.
  seen_seq bigint not null
);

-- The history that each process was last told of. Only that process advances its mark, so a database without the mark,
-- or with an older one, has lost history that was acknowledged. Written every two seconds.
create table ledger_marks (
  process_id uuid primary key,
  node_id label not null,
  position bigint not null check (position >= 0),
  marked_at timestamptz not null,
  -- The process knows more than this database and takes no new work.
  refused_at timestamptz,
  -- An operator accepted the loss.
  accepted_at timestamptz,
  constraint ledger_marks_accepted_after_refusal check (accepted_at is null or refused_at is not null)
) with (fillfactor = 50);

-- The last result of each invariant that `svc-admin audit` checks.
create table ledger_audits (
  invariant text primary key check (length(invariant) <= 100),
  about text not null check (length(about) <= 1000),
  ran_at timestamptz not null,
  took_ms integer not null,
  violations integer not null
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Nodes

-- Streaming nodes and their leases. A restart raises the epoch, which ends the lease of the older process.
create table nodes (
  id text primary key check (length(id) between 1 and 200),
  epoch bigint not null check (epoch >= 1),
  -- The database login that registered the node first. No other login may use its id.
  login text not null,
  version text check (length(version) <= 60),
  public_url text not null,
  models text[] not null check (cardinality(models) > 0),
  capacity integer not null check (capacity >= 0),
  active integer not null default 0 check (active >= 0),
  draining boolean not null default false,
  started_at timestamptz not null,
  renewed_at timestamptz not null,
  lease_until timestamptz not null,
  -- Set by a clean stop. The sweeper then doesn't wait for the end of the lease.
  retired_at timestamptz
) with (fillfactor = 50);

-- The last run of the sweeper. After a gap, leases may have expired only because the database was unreachable, so no
-- stream is failed until `quiet_until`.
create table sweeper_watch (
  only_row boolean primary key default true check (only_row),
  last_tick_at timestamptz not null default '-infinity',
  quiet_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into sweeper_watch default values;

-- The audio that each node has accepted in its open streams, replaced every two seconds. GET /v1/usage shows it, and
-- nothing is charged by it. Unlogged: after a crash the next report fills it again.
create unlogged table live_audio (
  node_id text primary key,
  node_epoch bigint not null,
  reported_at timestamptz not null,
  session_ids uuid[] not null,
  samples bigint[] not null,
  constraint live_audio_one_count_per_session check (cardinality(session_ids) = cardinality(samples))
) with (fillfactor = 50);

-- ---------------------------------------------------------------------------------------------------------------------
-- Console

-- People who may sign in.
create table console_users (
  id uuid primary key,
  email email_address not null,
  language text not null default 'en' check (language in ('en', 'sw')),
  -- Set only by svc-admin.
  is_operator boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  first_sign_in_at timestamptz,
  -- The welcome email. It is due while welcomed_at is null, so that no crash loses it.
  welcomed_at timestamptz,
  welcome_tries integer not null default 0,
  welcome_after timestamptz not null default clock_timestamp()
);
create unique index console_users_email on console_users (email);
create index console_users_unwelcomed on console_users (welcome_after) where welcomed_at is null;

-- Who belongs to which account.
create table memberships (
  account_id uuid not null references accounts,
  user_id uuid not null references console_users on delete cascade,
  role text not null check (role in ('owner', 'member')),
  joined_at timestamptz not null default clock_timestamp(),
  primary key (account_id, user_id)
);
create index memberships_user on memberships (user_id);

-- Invitations to an account. A person joins only by accepting one.
create table invitations (
  id uuid primary key,
  account_id uuid not null references accounts,
  email email_address not null,
  role text not null check (role in ('owner', 'member')),
  language text not null check (language in ('en', 'sw')),
  invited_by uuid references console_users on delete set null,
  status text not null default 'pending'
    check (status in ('pending', 'accepted', 'declined', 'withdrawn', 'expired')),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- When to send the email, or to try again. Null: sent, or never to be sent.
  email_due_at timestamptz,
  email_tries integer not null default 0,
  -- Whether this invitation counts as an email to its address.
  emails boolean not null default true
);
create unique index invitations_pending on invitations (account_id, email) where status = 'pending';
create index invitations_account on invitations (account_id, created_at);
create index invitations_email on invitations (email, created_at);
create index invitations_invited_by on invitations (invited_by);
create index invitations_expiry on invitations (expires_at) where status = 'pending';
create index invitations_due on invitations (email_due_at) where email_due_at is not null;

-- Sign-in codes. Unknown addresses get a row too, so that both are handled alike. Codes, addresses, networks and
-- devices are stored as keyed hashes.
create table sign_in_codes (
  challenge uuid primary key,
  user_id uuid references console_users on delete cascade,
  email_hash sha256_hash not null,
  source_hash sha256_hash not null,
  -- Set if the code was requested on a device that the person has used before.
  device_hash sha256_hash,
  code_hash sha256_hash not null,
  tries smallint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index sign_in_codes_email on sign_in_codes (email_hash, created_at);
create index sign_in_codes_source on sign_in_codes (source_hash, created_at);
create index sign_in_codes_created on sign_in_codes (created_at);

-- Devices and networks from which a person has signed in, as keyed hashes. There, requests of strangers for the
-- person's address don't count.
create table known_places (
  user_id uuid not null references console_users on delete cascade,
  place_hash sha256_hash not null,
  last_used_at timestamptz not null,
  primary key (user_id, place_hash)
);

-- Browser sessions, found by the hash of their token.
create table console_sessions (
  token_hash sha256_hash primary key,
  -- For the list of signed-in devices. It opens nothing.
  id uuid not null default gen_random_uuid() unique,
  user_id uuid not null references console_users on delete cascade,
  -- The account that the browser shows. Losing the membership ends the session.
  account_id uuid,
  verified_by text not null check (verified_by in ('code', 'passkey')),
  -- The last use of a passkey in this session.
  confirmed_at timestamptz,
  -- A browser's name and major version, and its system, both from closed lists.
  client text check (length(client) <= 80),
  system text check (length(system) <= 20),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  last_seen_at timestamptz not null default clock_timestamp(),
  constraint console_sessions_membership
    foreign key (account_id, user_id) references memberships (account_id, user_id) on delete cascade
);
create index console_sessions_user on console_sessions (user_id);
create index console_sessions_expiry on console_sessions (expires_at);
create index console_sessions_membership on console_sessions (account_id, user_id);

-- Passkeys. A public key is no secret, so it is stored as it is.
create table passkeys (
  id uuid primary key,
  user_id uuid not null references console_users on delete cascade,
  -- Chosen by the device.
  credential_id text not null unique check (length(credential_id) between 1 and 1400),
  public_key bytea not null,
  -- How often the device has used it. Always 0 for a passkey that several devices share.
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  name text not null check (length(name) between 1 and 60),
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id);

-- Challenges that a device signs once, within minutes. A used one is deleted.
create table passkey_challenges (
  challenge_hash sha256_hash primary key,
  -- The person who adds a passkey. Null: a sign-in, where the person isn't known yet.
  user_id uuid references console_users on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);

-- Codes of svc-admin with which an operator adds the first passkey. Only a person's newest code works.
create table operator_enrolments (
  id uuid primary key,
  user_id uuid not null references console_users on delete cascade,
  code_hash sha256_hash not null,
  tries smallint not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index operator_enrolments_user on operator_enrolments (user_id, created_at);

-- Grants that operators made on the console, for their daily limit.
create table operator_grants (
  -- The request_id of the transaction. A repeated one counts once.
  id uuid primary key,
  operator_id uuid not null,
  account_id uuid not null references accounts,
  ms bigint not null check (ms > 0),
  granted_at timestamptz not null default clock_timestamp()
);
create index operator_grants_day on operator_grants (operator_id, granted_at);
create index operator_grants_account on operator_grants (account_id);

-- Requests for credit. Operators grant or decline them.
create table credit_requests (
  id uuid primary key,
  account_id uuid not null references accounts,
  requested_by uuid references console_users on delete set null,
  requested_at timestamptz not null default clock_timestamp(),
  requested_ms bigint not null check (requested_ms between 60000 and 36000000),
  message text not null check (length(message) <= 500),
  status text not null default 'open' check (status in ('open', 'granted', 'declined')),
  decided_at timestamptz,
  granted_ms bigint,
  -- The operator's reason, which the customer reads.
  reply text check (length(reply) between 1 and 500),
  constraint credit_requests_decided_has_time check ((status = 'open') = (decided_at is null)),
  constraint credit_requests_decided_has_reply check ((status = 'open') = (reply is null)),
  constraint credit_requests_granted_has_amount check ((status = 'granted') = (granted_ms is not null))
);
create unique index credit_requests_one_open on credit_requests (account_id) where status = 'open';
create index credit_requests_account on credit_requests (account_id, requested_at);
create index credit_requests_status on credit_requests (status, requested_at, id);

-- Emails about requests for credit that are still to be sent: to operators about new ones, to owners about decisions.
create table credit_request_notices (
  id uuid primary key default gen_random_uuid(),
  request_id uuid not null references credit_requests on delete cascade,
  recipient uuid not null references console_users on delete cascade,
  kind text not null check (kind in ('asked', 'granted', 'declined')),
  created_at timestamptz not null default clock_timestamp(),
  email_due_at timestamptz not null default clock_timestamp(),
  email_tries integer not null default 0
);
create index credit_request_notices_due on credit_request_notices (email_due_at);
create index credit_request_notices_request on credit_request_notices (request_id);
create index credit_request_notices_recipient on credit_request_notices (recipient);

-- Emails about low credit that are still to be sent.
create table credit_notices (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts,
  recipient uuid not null references console_users on delete cascade,
  -- The percentage that is left.
  level smallint not null,
  email_due_at timestamptz not null default clock_timestamp(),
  email_tries integer not null default 0
);
create index credit_notices_due on credit_notices (email_due_at);
create index credit_notices_account on credit_notices (account_id);
create index credit_notices_recipient on credit_notices (recipient);

-- Emails about passkeys and operators that are still to be sent.
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

-- Networks that used the public demo today, as keyed hashes. Deleted after the day.
create table demo_claims (
  day date not null,
  network_hash sha256_hash not null,
  primary key (day, network_hash)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Cells. Accounts can move from one cell to another. Cells sign what they hand over, so that the mover's login alone
-- can't create credit, history or people.

-- The id of this cell. Empty in a service with one cell.
create table cell (
  only_row boolean primary key default true check (only_row),
  id text not null check (id ~ '^[0-9a-z]{2}$')
);

-- Fingerprints of the peppers that this cell knows. An account moves only to a cell that can verify its keys.
create table cell_peppers (
  pepper_id smallint primary key check (pepper_id between 0 and 255),
  fingerprint bytea not null check (length(fingerprint) = 8)
);

-- Secrets that this cell shares with others. No role can read them.
create table cell_links (
  cell text primary key check (cell ~ '^[0-9a-z]{2}$'),
  key bytea not null check (length(key) = 32),
  linked_at timestamptz not null default clock_timestamp()
);

-- The account that the current transaction receives: a hash of its rows so far, and how the source described it.
create table account_imports (
  account_id uuid primary key,
  move_id uuid not null,
  from_cell text not null,
  chain bytea not null,
  content jsonb not null
);

-- Moves that arrived here. Each is used once, so that an old copy can't be imported after the account has left.
create table account_arrivals (
  move_id uuid primary key,
  account_id uuid not null references accounts,
  from_cell text not null,
  arrived_at timestamptz not null default clock_timestamp()
);
create index account_arrivals_account on account_arrivals (account_id);

-- ---------------------------------------------------------------------------------------------------------------------
-- Logs

-- Who changed what. Triggers write it in the transaction of the change, and nothing changes it later. It names people
-- and things by id only, so that an erasure needn't change it.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  account_id uuid references accounts,
  -- The database login. No caller can choose it.
  login text not null,
  -- The signed-in person for whom the console acted. Null: the login itself.
  actor_id uuid,
  action text not null,
  target text,
  before jsonb,
  after jsonb,
  request_id text,
  -- The cell that wrote the entry, and the login here that imported it. `login` is then the one of that cell.
  imported_from text,
  imported_by text,
  constraint audit_log_import_has_login check ((imported_from is null) = (imported_by is null))
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

-- Times and counts of a stream, reported by its node after the end. No audio, no text. Kept for 30 days.
create table session_details (
  account_id uuid not null,
  session_id uuid not null,
  -- Of the WebSocket upgrade.
  request_id uuid not null,
  origin text check (length(origin) <= 200),
  client text check (length(client) <= 80),
  -- Milliseconds since the upgrade, so that the node's clock doesn't matter.
  ready_ms integer,
  first_words_ms integer,
  first_final_ms integer,
  last_final_ms integer,
  ended_ms integer not null,
  finals integer not null,
  close_code integer not null,
  close_reason text not null check (length(close_reason) <= 100),
  delta_lag_p50_ms integer,
  delta_lag_p95_ms integer,
  gaps integer not null,
  longest_gap_ms integer not null,
  -- Codes of status and error events, and the sentence of a suspicious_audio status.
  hints text[] not null,
  audio_hint text check (length(audio_hint) <= 300),
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (account_id, session_id)
);
create index session_details_request on session_details (account_id, request_id);
create index session_details_age on session_details (recorded_at);

-- API calls and refused upgrades of an account, for its Log page. Metadata only. One partition per UTC day, kept for
-- seven days: record_calls() creates them and forget_calls() drops them.
create table api_calls (
  account_id uuid not null,
  -- By the database's clock.
  at timestamptz(3) not null,
  request_id uuid not null,
  method text not null check (length(method) <= 10),
  route text not null check (length(route) <= 100),
  status smallint not null,
  code text check (length(code) <= 60),
  -- A fixed message of the protocol, if it is more specific than that of the code.
  detail text check (length(detail) <= 300),
  -- The public id of the key.
  key_id text check (length(key_id) <= 40),
  session_id uuid,
  took_ms integer not null,
  -- Similar calls of the same second that were not stored one by one.
  more integer not null default 0
) partition by range (at);
create index api_calls_at on api_calls (account_id, at, request_id);
create index api_calls_refused on api_calls (account_id, at, request_id) where status >= 400;
create index api_calls_request on api_calls (account_id, request_id);
-- For refused upgrades. A call that created a session is found by the session's time.
create index api_calls_session on api_calls (account_id, session_id) where status >= 400;
