-- Members and invitations. Each function locks before it reads the clock.

-- Creates a person who may sign in, without access to any account yet.
create or replace function ensure_person(p_email text, p_language text) returns uuid
language plpgsql as $$
declare
  v_user uuid;
begin
  -- A welcome email is due only after an approval: see approve_waitlist.
  insert into console_users (id, email, language, welcomed_at)
    values (gen_random_uuid(), p_email, p_language, clock_timestamp())
    on conflict (email) do nothing;
  select id into strict v_user from console_users where email = p_email;
  return v_user;
end
$$;

-- Deletes a person who has no account and no open invitation left.
create or replace function forget_person(p_user uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from console_users u where u.id = p_user and not u.is_operator
    and not exists (select from memberships m where m.user_id = u.id)
    and not exists (
      select from invitations i
      where i.email = u.email and i.status = 'pending' and i.expires_at > clock_timestamp());
  return found;
end
$$;

-- The result depends only on the inviter's own account. It doesn't reveal whether the address is
-- known elsewhere or has reached its email limit.
create or replace function invite_member(
  p_id uuid, p_account uuid, p_invited_by uuid, p_email text, p_role text, p_language text
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz;
  v_emails boolean;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account::text, 1));
  perform pg_advisory_xact_lock(hashtextextended(p_email, 2));
  v_now := clock_timestamp();
  update invitations set status = 'expired', email_due_at = null
    where account_id = p_account and status = 'pending' and expires_at <= v_now;
  delete from invitations
    where account_id = p_account and status <> 'pending' and created_at < v_now - interval '30 days';
  if exists (
    select from memberships m join console_users u on u.id = m.user_id
    where m.account_id = p_account and u.email = p_email
  ) then
    return 'already_member';
  end if;
  if exists (
    select from invitations
    where account_id = p_account and email = p_email and status in ('pending', 'declined')
  ) then
    return 'already_invited';
  end if;
  if (select count(*) from memberships where account_id = p_account)
    + (select count(*) from invitations where account_id = p_account and status = 'pending') >= 20 then
    return 'member_limit_reached';
  end if;
  if (select count(*) from invitations
    where account_id = p_account and created_at > v_now - interval '1 day') >= 10 then
    return 'invitation_limit_reached';
  end if;
  v_emails := (select count(*) from invitations
    where email = p_email and emails and created_at > v_now - interval '1 day') < 3;
  perform ensure_person(p_email, p_language);
  insert into invitations
    (id, account_id, email, role, language, invited_by, created_at, expires_at, emails, email_due_at)
    values (p_id, p_account, p_email, p_role, p_language, p_invited_by, v_now,
      v_now + interval '14 days', v_emails, case when v_emails then v_now end);
  return 'invited';
end
$$;

-- Returns the joined account, or null if this person has no open invitation with this id.
create or replace function accept_invitation(p_user uuid, p_id uuid) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_invitation invitations;
begin
  update invitations i set status = 'accepted', email_due_at = null
    from console_users u
    where i.id = p_id and u.id = p_user and u.email = i.email
      and i.status = 'pending' and i.expires_at > clock_timestamp()
    returning i.* into v_invitation;
  if not found then
    return null;
  end if;
  insert into memberships (account_id, user_id, role)
    values (v_invitation.account_id, p_user, v_invitation.role)
    on conflict do nothing;
  return v_invitation.account_id;
end
$$;

create or replace function decline_invitation(p_user uuid, p_id uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update invitations i set status = 'declined', email_due_at = null
    from console_users u
    where i.id = p_id and u.id = p_user and u.email = i.email and i.status = 'pending';
  return found;
end
$$;

create or replace function withdraw_invitation(p_account uuid, p_id uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update invitations set status = 'withdrawn', email_due_at = null
    where id = p_id and account_id = p_account and status = 'pending';
  if not found then
    return false;
  end if;
  perform forget_person(u.id) from invitations i join console_users u on u.email = i.email
    where i.id = p_id;
  return true;
end
$$;

-- Ends invitations that nobody answered, and deletes the people who were only invited.
create or replace function expire_invitations() returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_emails text[];
begin
  with expired as (
    update invitations set status = 'expired', email_due_at = null
      where status = 'pending' and expires_at <= clock_timestamp()
      returning email
  ) select array_agg(email) into v_emails from expired;
  perform forget_person(id) from console_users where email = any (v_emails);
end
$$;
