-- API calls and refused upgrades of an account, for its Log page. Metadata only. One partition per UTC day, kept for
-- seven days. record_calls() creates the partitions and forget_calls() drops them.
create table api_calls (
  account_id uuid not null,
  -- By the database's clock.
  at timestamptz(3) not null,
  request_id uuid not null,
  method text not null check (length(method) <= 10),
  route text not null check (length(route) <= 100),
  status smallint not null,
  code text check (length(code) <= 60),
  -- A fixed message of the protocol, if it is more specific than that of the code.
  detail text check (length(detail) <= 300),
  -- The public id of the key.
  key_id text check (length(key_id) <= 40),
  session_id uuid,
  took_ms integer not null,
  -- Calls of the same second that were alike and were not stored one by one.
  more integer not null default 0
) partition by range (at);
create index api_calls_at on api_calls (account_id, at, request_id);
create index api_calls_refused on api_calls (account_id, at, request_id) where status >= 400;
create index api_calls_request on api_calls (account_id, request_id);
-- Of refused upgrades. A call that created a session is found by the time of the session.
create index api_calls_session on api_calls (account_id, session_id) where status >= 400;
