-- Notifies every process with cached keys of changed keys, at commit. Last-used times don't count as a change.

create or replace function notify_key_changed() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_notify('svc_key_changed', old.id);
  return null;
end
$$;
create or replace trigger api_keys_changed
  after delete or update of account_id, hmac, scopes, expires_at, revoked_at on api_keys
  for each row execute function notify_key_changed();

-- Suspending or resuming an account invalidates its keys.
create or replace function notify_account_keys_changed() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_notify('svc_key_changed', id) from api_keys where account_id = new.id;
  return null;
end
$$;
create or replace trigger accounts_status_changed after update of status on accounts
  for each row when (old.status is distinct from new.status)
  execute function notify_account_keys_changed();
