-- Devices and networks from which a person has signed in before, as keyed hashes. Requests of strangers for the person's
-- address don't count against them.
create table known_places (
  user_id uuid not null references console_users on delete cascade,
  place_hash bytea not null check (length(place_hash) = 32),
  last_used_at timestamptz not null,
  primary key (user_id, place_hash)
);

-- Set if the code was requested on a device that the person has used before.
alter table sign_in_codes add column device_hash bytea check (length(device_hash) = 32);
