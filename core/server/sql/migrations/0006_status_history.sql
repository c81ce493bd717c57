-- Which minutes of a UTC day a component of the service was available, one bit per minute. A minute that no process
-- recorded is a minute without service. Kept for 90 days.
create table status_days (
  day date not null,
  component text not null check (length(component) between 1 and 100),
  -- The minute of the first record of a new component. Earlier ones say nothing.
  from_minute smallint not null default 0 check (from_minute between 0 and 1439),
  available bit(1440) not null default repeat('0', 1440)::bit(1440),
  primary key (day, component)
);

-- What operators tell about interruptions, on the status page.
create table incidents (
  id integer generated always as identity primary key,
  text reason not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  updated_at timestamptz not null default clock_timestamp(),
  check (ended_at >= started_at)
);
create index incidents_by_start on incidents (started_at desc);
