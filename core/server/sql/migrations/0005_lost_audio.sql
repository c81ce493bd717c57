-- A client that lost its connection sends the audio without a final again, in a session that continues the lost one. That
-- audio was charged, so the new session is charged from its end on. Null: the session continues none.
alter table sessions add column continues uuid, add column replayed_samples bigint;
alter table sessions drop constraint sessions_billed_by_samples;
alter table sessions add constraint sessions_billed_by_samples check (
  samples between 0 and reserved_ms * 16
  and audio_ms = (samples + 15) / 16
  and (continues is null) = (replayed_samples is null)
  and coalesce(replayed_samples between 1 and samples, true)
  and case
    when status <> 'completed' then billable_ms = 0 and continues is null
    -- The credit was returned, so only what is still available can be charged.
    when swept_at is not null then billable_ms % 1000 = 0
      and billable_ms between 0
        and least(reserved_ms, (samples - coalesce(replayed_samples, 0) + 15999) / 16000 * 1000)
    else billable_ms = least(reserved_ms, (samples - coalesce(replayed_samples, 0) + 15999) / 16000 * 1000)
  end) not valid;

-- The charged audio of streams that lost their client: how long the last utterances are, and a digest of each. The next
-- session compares them with what it receives. Kept for minutes.
create table lost_audio (
  account_id uuid not null,
  session_id uuid not null,
  lengths bigint[] not null,
  digests text[] not null,
  lost_at timestamptz not null,
  primary key (account_id, session_id),
  check (cardinality(lengths) between 1 and 16 and cardinality(digests) = cardinality(lengths))
);
create index lost_audio_age on lost_audio (lost_at);

-- Sessions that a returning client wants to end, because its connection to them is lost. Their node compares the proof
-- with the credential, which only that client has.
create table session_takeovers (
  session_id uuid primary key,
  account_id uuid not null references accounts,
  proof text not null check (length(proof) between 1 and 32),
  requested_at timestamptz not null default clock_timestamp()
);
create index session_takeovers_age on session_takeovers (requested_at);
