-- Sessions are opened by the sign-in role alone, and say how the person proved their identity.

do $$
begin
  begin
    if not exists (select from pg_roles where rolname = 'svc_sign_in') then
      create role svc_sign_in nologin;
    end if;
  exception when duplicate_object or unique_violation then
    null;
  end;
  begin
    grant svc_sign_in to svc_all;
  exception when unique_violation then
    null;
  end;
end
$$;

alter table console_sessions
  add column verified_by text not null default 'code' check (verified_by in ('code', 'passkey')),
  -- The last time this person used a passkey in this session.
  add column confirmed_at timestamptz;

-- What an approval granted, for the daily limit of each operator.
alter table waitlist add column granted_ms bigint check (granted_ms > 0);
create index waitlist_decided on waitlist (decided_by, decided_at) where granted_ms is not null;

-- The database login that registered the node first. No other login may use its id.
alter table nodes add column login text;
