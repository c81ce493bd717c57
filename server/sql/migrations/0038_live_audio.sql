-- The audio that each streaming node has accepted in its open streams, replaced as a whole every two seconds. GET
-- /v1/usage shows it; nothing is charged by it. Unlogged: after a crash the next report fills it again.
create unlogged table live_audio (
  node_id text primary key,
  node_epoch bigint not null,
  reported_at timestamptz not null,
  session_ids uuid[] not null,
  samples bigint[] not null,
  constraint one_count_per_session check (cardinality(session_ids) = cardinality(samples))
) with (fillfactor = 50);
