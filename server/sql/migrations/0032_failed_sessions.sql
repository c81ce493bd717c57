-- Whose sessions failed within the last hour: few rows, asked for every few seconds.
create index sessions_failed on sessions (completed_at) where status = 'failed';
