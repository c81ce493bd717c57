-- Sessions and the money they move. account_id leads every key, so that all of it can be partitioned by account.

-- In this order: everything from 'completed' on is over.
create type session_status as enum ('reserved', 'active', 'completed', 'failed', 'expired');
create type txn_kind as enum ('grant', 'adjust', 'reserve', 'complete', 'fail', 'expire');
create domain reservation_ms as integer check (value between 1000 and 300000 and value % 1000 = 0);
create domain sha256_hash as bytea check (length(value) = 32);

create table sessions (
  account_id uuid not null references accounts,
  id uuid not null,
  key_id text,
  model text not null,
  status session_status not null default 'reserved',
  -- Which of the account's places this session takes while it lives.
  slot place,
  reserved_ms reservation_ms not null,
  -- What was available right after the reservation: a replay must answer the same.
  remaining_ms milliseconds not null,
  websocket_url text not null,
  -- Where it was placed and, once active, the process that owns it.
  node_id text not null,
  node_epoch bigint,
  -- Names the one upgrade that spent the credential, so that it may ask again when the answer was lost.
  attempt_id uuid,
  samples bigint not null default 0,
  audio_ms integer not null default 0,
  billable_ms integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  claimed_at timestamptz,
  completed_at timestamptz,
  primary key (account_id, id),
  constraint live_or_over check (
    (status <= 'active') = (slot is not null) and (status <= 'active') = (completed_at is null)),
  -- A credential is spent before it expires, and only what was claimed can hear or complete.
  constraint claimed_in_time check (
    case when claimed_at is null then status not in ('active', 'completed') and samples = 0
      else claimed_at < expires_at and attempt_id is not null and node_epoch is not null end),
  -- Only what completed is billed: what failed is our fault and costs nothing.
  constraint billed_by_the_meter check (
    samples between 0 and reserved_ms * 16
    and audio_ms = (samples + 15) / 16
    and billable_ms = case when status = 'completed'
      then least(reserved_ms, (samples + 15999) / 16000 * 1000) else 0 end)
) with (fillfactor = 50);

-- The database's own refusal of one session too many, should a lock ever be forgotten.
create unique index sessions_live on sessions (account_id, slot) where slot is not null;

-- Double entry. The chart of accounts is fixed, four buckets, so the entries of a transaction are columns of its row
-- and "they sum to zero" is a plain CHECK that cannot be put off, skipped or outrun. `granted` is the contra side.
create table txn (
  account_id uuid not null references accounts,
  seq bigint not null,
  kind txn_kind not null,
  session_id uuid,
  -- The operator's own id of a grant or adjustment: sent twice, done once.
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
  constraint entries_sum_to_zero check (granted_ms + available_ms + reserved_ms + consumed_ms = 0),
  constraint has_a_subject check (
    case when kind <= 'adjust'
      then session_id is null and request_id is not null and actor <> '' and reason is not null
      else session_id is not null and granted_ms = 0 end)
);

-- A session's money is set aside once and leaves once. Led by the session, so that an operator who has only a
-- session's id finds its account.
create unique index txn_session on txn (session_id, account_id, (kind = 'reserve')) where session_id is not null;
create unique index txn_request on txn (account_id, request_id) where request_id is not null;

-- The same transactions as a bookkeeper reads them: one row an entry.
create view entry as
  select t.account_id, t.seq, e.bucket, e.amount_ms
  from txn t, lateral (values
    ('granted', t.granted_ms), ('available', t.available_ms), ('reserved', t.reserved_ms),
    ('consumed', t.consumed_ms)) as e (bucket, amount_ms)
  where e.amount_ms <> 0;

create table idempotency (
  account_id uuid not null,
  key_hash sha256_hash not null,
  request_hash sha256_hash not null,
  session_id uuid not null,
  expires_at timestamptz not null,
  primary key (account_id, key_hash)
) with (fillfactor = 80);

create index idempotency_expiry on idempotency (expires_at);

-- One use of a credential, held by a primary key: even a claim that forgot to look at the status cannot win twice.
create table claim_log (
  account_id uuid not null,
  session_id uuid not null,
  attempt_id uuid not null,
  node_id text not null,
  node_epoch bigint not null,
  claimed_at timestamptz not null,
  primary key (account_id, session_id)
);
