-- Times and counts of a stream, reported once by its node after the stream has ended. No audio, no text. Kept for 30 days.
create table session_details (
  account_id uuid not null,
  session_id uuid not null,
  -- Of the WebSocket upgrade.
  request_id uuid not null,
  origin text check (length(origin) <= 200),
  client text check (length(client) <= 80),
  -- Milliseconds since the upgrade, so that the node's clock doesn't matter.
  ready_ms integer,
  first_delta_ms integer,
  first_final_ms integer,
  last_final_ms integer,
  ended_ms integer not null,
  finals integer not null,
  close_code integer not null,
  close_reason text not null check (length(close_reason) <= 100),
  delta_lag_p50_ms integer,
  delta_lag_p95_ms integer,
  gaps integer not null,
  longest_gap_ms integer not null,
  -- Codes of status and error events, and the sentence of a suspicious_audio status.
  hints text[] not null,
  audio_hint text check (length(audio_hint) <= 300),
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (account_id, session_id)
);
create index session_details_request on session_details (account_id, request_id);
create index session_details_age on session_details (recorded_at);
