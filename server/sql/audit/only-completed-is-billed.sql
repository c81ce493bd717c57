-- The bill is the accepted audio rounded up to whole seconds, never above the reservation, and only
-- for completed sessions.
select account_id, id as session_id, status, samples, audio_ms, billable_ms
from sessions
where audio_ms <> ceil(samples / 16.0)
  or billable_ms <> case status
    when 'completed' then least(reserved_ms, ceil(samples / 16000.0) * 1000) else 0 end;
