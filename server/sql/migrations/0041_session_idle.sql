-- The last request of a browser session. Sessions that existed before count as used now.

alter table console_sessions add column last_seen_at timestamptz not null default clock_timestamp();
