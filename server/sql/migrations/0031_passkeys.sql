-- Passkeys: a member's own device in place of a code by mail. A public key opens nothing, so it is kept as it is.

create table passkeys (
  id uuid primary key,
  user_id uuid not null references console_users on delete cascade,
  -- What the device calls it.
  credential_id text not null unique check (length(credential_id) between 1 and 1400),
  public_key bytea not null,
  -- How often the device says it was used; devices that share a passkey always say 0.
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  name text not null check (length(name) between 1 and 60),
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id);

-- What a device is asked to sign: once, within minutes. Kept as a hash; to spend one is to delete its row.
create table passkey_challenges (
  challenge_hash bytea primary key check (length(challenge_hash) = 32),
  -- Who is adding a passkey. Null: a sign-in, and nobody is known yet.
  user_id uuid references console_users on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
