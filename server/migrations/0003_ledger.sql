-- Sessions and the money they move. account_id leads every key, so that all of it can be partitioned by account.

create table sessions (
  account_id uuid not null references accounts,
  id uuid not null,
  key_id text,
  model text not null,
  status text not null default 'reserved'
    check (status in ('reserved', 'active', 'completed', 'failed', 'expired')),
  -- Which of the account's places this session takes while it lives.
  slot integer check (slot >= 1),
  reserved_ms integer not null check (reserved_ms between 1000 and 300000 and reserved_ms % 1000 = 0),
  -- What was available right after the reservation: a replay must answer the same.
  remaining_ms bigint not null check (remaining_ms >= 0),
  websocket_url text not null,
  -- Where it was placed and, once active, the process that owns it.
  node_id text not null,
  node_epoch bigint,
  -- Names the one upgrade that spent the credential, so that it may ask again when the answer was lost.
  attempt_id uuid,
  samples bigint not null default 0 check (samples between 0 and reserved_ms::bigint * 16),
  audio_ms integer not null default 0,
  billable_ms integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  claimed_at timestamptz,
  completed_at timestamptz,
  primary key (account_id, id),
  constraint live_has_slot check ((status in ('reserved', 'active')) = (slot is not null)),
  constraint over_has_end check ((status in ('reserved', 'active')) = (completed_at is null)),
  constraint active_has_owner check (
    (status not in ('active', 'completed') or claimed_at is not null)
    and (claimed_at is null) = (node_epoch is null)
    and (claimed_at is null) = (attempt_id is null)
  ),
  constraint claimed_in_time check (claimed_at < expires_at),
  constraint expires_after_a_minute check (expires_at = created_at + interval '60 seconds'),
  constraint unclaimed_is_silent check (claimed_at is not null or samples = 0),
  constraint audio_is_samples check (audio_ms = (samples + 15) / 16),
  -- Only what completed is billed; what failed is our fault and costs nothing.
  constraint only_completed_is_billed check (
    billable_ms = case status
      when 'completed' then least(reserved_ms, (samples + 15999) / 16000 * 1000)
      else 0
    end
  )
) with (fillfactor = 50);

-- The database's own refusal of one session too many, should a lock ever be forgotten.
create unique index sessions_live on sessions (account_id, slot) where slot is not null;

create table txn (
  account_id uuid not null references accounts,
  seq bigint not null check (seq >= 1),
  kind text not null check (kind in ('grant', 'adjust', 'reserve', 'complete', 'fail', 'expire')),
  session_id uuid,
  -- The operator's own id of a grant or adjustment: sent twice, done once.
  request_id uuid,
  actor text check (length(actor) between 1 and 200),
  reason text check (length(reason) between 1 and 500),
  available_after_ms bigint not null check (available_after_ms >= 0),
  reserved_after_ms bigint not null check (reserved_after_ms >= 0),
  consumed_after_ms bigint not null check (consumed_after_ms >= 0),
  created_at timestamptz not null,
  -- A session's money is set aside once and leaves once.
  closes boolean not null generated always as (kind in ('complete', 'fail', 'expire')) stored,
  primary key (account_id, seq),
  constraint has_a_subject check (
    case when kind in ('grant', 'adjust')
      then session_id is null and request_id is not null and actor is not null and reason is not null
      else session_id is not null and request_id is null
    end
  )
);

-- Led by the session so that an operator who has only a session's id finds its account.
create unique index txn_session on txn (session_id, account_id, closes) where session_id is not null;
create unique index txn_request on txn (account_id, request_id) where request_id is not null;

-- Double entry: the amounts of one transaction sum to zero. `granted` is the contra side and stands negative.
create table entry (
  account_id uuid not null,
  seq bigint not null,
  bucket text not null check (bucket in ('granted', 'available', 'reserved', 'consumed')),
  amount_ms bigint not null check (amount_ms <> 0),
  primary key (account_id, seq, bucket)
);

create table idempotency (
  account_id uuid not null,
  key_hash bytea not null check (length(key_hash) = 32),
  request_hash bytea not null check (length(request_hash) = 32),
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
