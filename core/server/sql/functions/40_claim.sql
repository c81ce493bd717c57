-- Spends a credential: reserved -> active, for exactly one upgrade. Locks only the session, so that
-- it never waits for other transactions of the account.
create or replace function claim_session(
  p_account uuid,
  p_session uuid,
  p_upgrade uuid,
  p_node text,
  p_epoch bigint,
  out outcome text,
  out model text,
  out reserved_ms integer,
  out allowed_origins text[]
)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_session sessions;
  v_account record;
  v_now timestamptz;
begin
  select * into v_session from sessions s where s.account_id = p_account and s.id = p_session for update;
  if not found then
    outcome := 'unknown';
    return;
  end if;
  -- Read the clock after the lock, so that a claim that waited past the expiry fails.
  v_now := clock_timestamp();
  select status, allowed_origins into v_account from accounts where id = p_account;
  model := v_session.model;
  reserved_ms := v_session.reserved_ms;
  allowed_origins := v_account.allowed_origins;

  if v_session.claimed_at is not null then
    -- The same upgrade retries because its response was lost. Any other upgrade is too late.
    outcome := case
      when v_session.status = 'active' and v_session.upgrade_id = p_upgrade
        and v_session.node_id = p_node and v_session.node_epoch = p_epoch then 'claimed'
      else 'used'
    end;
  elsif v_session.status <> 'reserved' or v_session.expires_at <= v_now then
    outcome := 'expired';
  elsif v_account.status <> 'active' then
    outcome := 'account_inactive';
  elsif is_given_back(p_account, p_session, p_upgrade) then
    -- The statement was late: its process has refused the upgrade.
    outcome := 'used';
  else
    insert into claim_log (account_id, session_id, upgrade_id, node_id, node_epoch, claimed_at)
      values (p_account, p_session, p_upgrade, p_node, p_epoch, v_now);
    update sessions s set
      status = 'active', node_id = p_node, node_epoch = p_epoch, upgrade_id = p_upgrade, claimed_at = v_now
      where s.account_id = p_account and s.id = p_session;
    outcome := 'claimed';
  end if;
end
$$;

-- Gives a claim back that opened no stream: the session is reserved again until its own expiry. The caller
-- may not know whether the claim went through. From now on it can't. Moves no credit, so it locks only the
-- session. An upgrade whose stream was opened must never be given back.
create or replace function give_back_session(
  p_account uuid,
  p_session uuid,
  p_upgrade uuid
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_session sessions;
begin
  select * into v_session from sessions where account_id = p_account and id = p_session for update;
  if not found then
    raise exception 'session % does not exist', p_session using errcode = 'SVC01';
  end if;
  if v_session.completed_at is not null then
    return 'not_claimed';
  end if;
  insert into claims_given_back (account_id, session_id, upgrade_id, given_back_at)
    values (p_account, p_session, p_upgrade, clock_timestamp())
    on conflict do nothing;
  if v_session.status <> 'active' or v_session.upgrade_id <> p_upgrade then
    return 'not_claimed';
  end if;
  delete from claim_log where account_id = p_account and session_id = p_session;
  update sessions set status = 'reserved', node_epoch = null, upgrade_id = null, claimed_at = null
    where account_id = p_account and id = p_session;
  return 'given_back';
end
$$;

-- Whether a session was charged for all of its audio. One that was settled late may not be.
create or replace function is_paid(p_session sessions) returns boolean
language sql immutable as $$ select p_session.billable_ms = unpaid_ms(p_session, p_session.samples) $$;

-- How many of the first samples of a session were charged in the lost session that it continues, which is handed on once.
create or replace function charged_before(p_session sessions, p_lost uuid, p_replayed bigint, p_samples bigint)
returns bigint
language sql stable as $$
  select nullif(least(p_replayed, p_samples, lost.samples), 0)
  from sessions lost
  where lost.account_id = p_session.account_id and lost.id = p_lost and lost.id <> p_session.id
    and lost.status = 'completed' and is_paid(lost)
    and not exists (
      select from sessions other where other.account_id = p_session.account_id and other.continues = p_lost)
$$;

-- Remembers what a stream that lost its client was charged for. Without lengths, the client knows how its stream ended.
create or replace function keep_lost_audio(p_session sessions, p_lengths bigint[], p_digests text[]) returns void
language sql as $$
  insert into lost_audio (account_id, session_id, lengths, digests, lost_at)
    select p_session.account_id, p_session.id, p_lengths, p_digests, clock_timestamp()
    where cardinality(p_lengths) > 0
    on conflict do nothing
$$;

-- How many sessions before this one each continued the one before it. Stops counting at ten.
create or replace function continued_before(p_account uuid, p_session uuid) returns integer
language sql stable set search_path = public, pg_temp as $$
  with recursive chain as (
    select continues, 0 as hops from sessions where account_id = p_account and id = p_session
    union all
    select s.continues, c.hops + 1
    from chain c join sessions s on s.account_id = p_account and s.id = c.continues
    where c.hops < 10
  )
  select max(hops) from chain
$$;

-- The lost sessions that a stream continues, with the audio that they were charged for and nobody sent again yet.
create or replace function find_lost_audio(p_account uuid, p_sessions uuid[]) returns table (
  session_id uuid, is_over boolean, lengths text[], digests text[]
)
language sql stable security definer set search_path = public, pg_temp as $$
  select s.id, s.completed_at is not null, l.lengths::text[], l.digests
  from sessions s
    left join lost_audio l on l.account_id = s.account_id and l.session_id = s.id and s.status = 'completed' and is_paid(s)
      and not exists (select from sessions o where o.account_id = s.account_id and o.continues = s.id)
      -- Otherwise one payment would have the same audio recognised for ever.
      and continued_before(s.account_id, s.id) < 10
  where s.account_id = p_account and s.id = any(p_sessions)
$$;

-- When the credential of a live session expires, for the proof that its client is back.
create or replace function live_session_expiry(p_account uuid, p_session uuid) returns timestamptz
language sql stable security definer set search_path = public, pg_temp as $$
  select s.expires_at from sessions s where s.account_id = p_account and s.id = p_session and s.slot is not null
$$;

-- Asks the node of a session to give it up, because its client is back and wants another one. Until then the session makes room
-- for the new one. The caller has checked the proof. Moves no credit.
create or replace function request_takeover(p_account uuid, p_session uuid, p_proof text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into session_takeovers as t (session_id, account_id, proof)
    select s.id, s.account_id, p_proof from sessions s
    where s.account_id = p_account and s.id = p_session and s.slot is not null
    on conflict (session_id) do update set proof = excluded.proof, requested_at = excluded.requested_at;
  return found;
end
$$;
