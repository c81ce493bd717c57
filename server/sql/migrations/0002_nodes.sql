-- Streaming nodes: one row a node, one lease a process. A restart raises the epoch, which retires the older one.

create table nodes (
  id text primary key check (length(id) between 1 and 200),
  epoch bigint not null check (epoch >= 1),
  public_url text not null,
  models text[] not null check (cardinality(models) > 0),
  capacity integer not null check (capacity >= 0),
  active integer not null default 0 check (active >= 0),
  draining boolean not null default false,
  started_at timestamptz not null,
  renewed_at timestamptz not null,
  lease_until timestamptz not null,
  -- Set by a clean stop: its sessions need not wait for the lease to end.
  retired_at timestamptz
) with (fillfactor = 50);

-- When a sweeper last looked. A gap here means that the database or every sweeper was away, so that leases
-- ended for want of somebody to renew them with: no stream is failed on such evidence.
create table sweeper_watch (
  only_row boolean primary key default true check (only_row),
  last_tick_at timestamptz not null default '-infinity',
  quiet_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

insert into sweeper_watch default values;
