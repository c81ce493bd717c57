-- A person may belong to several accounts, and joins one only by accepting its invitation. Before,
-- an invitation alone put the invited address into the inviter's account.

create table memberships (
  account_id uuid not null references accounts,
  user_id uuid not null references console_users on delete cascade,
  role text not null check (role in ('owner', 'member')),
  joined_at timestamptz not null default clock_timestamp(),
  primary key (account_id, user_id)
);
create index memberships_user on memberships (user_id);

create table invitations (
  id uuid primary key,
  account_id uuid not null references accounts,
  email text not null check (
    length(email) between 3 and 320 and octet_length(email) = length(email)
    and email !~ '[\x01-\x20\x7f]' and email = lower(email collate "C")),
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

-- People who signed in, and those for whom the account was made, are members. Everybody else was
-- only invited.
insert into memberships (account_id, user_id, role, joined_at)
  select u.account_id, u.id, u.role, coalesce(u.first_sign_in_at, u.created_at)
  from console_users u join accounts a on a.id = u.account_id
  where u.first_sign_in_at is not null or lower(a.email collate "C") = u.email;
insert into invitations (id, account_id, email, role, language, created_at, expires_at)
  select gen_random_uuid(), u.account_id, u.email, u.role, u.language, u.created_at,
    clock_timestamp() + interval '14 days'
  from console_users u
  where not exists (
    select from memberships m where m.user_id = u.id and m.account_id = u.account_id);

-- The account that a browser works in. Losing the membership ends the session.
alter table console_sessions add column account_id uuid;
update console_sessions s set account_id = m.account_id from memberships m where m.user_id = s.user_id;
alter table console_sessions add constraint console_sessions_membership
  foreign key (account_id, user_id) references memberships (account_id, user_id) on delete cascade;
create index console_sessions_membership on console_sessions (account_id, user_id);

alter table console_users drop column account_id, drop column role;
