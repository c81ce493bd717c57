-- The bill is the accepted audio that no other session was charged for, rounded up to whole seconds, never above the reservation, and only
-- for completed sessions. A late settlement may charge less, because its credit had been returned.
select account_id, id as session_id, status, samples, audio_ms, billable_ms, swept_at
from sessions
where audio_ms <> ceil(samples / 16.0)
  or case
    when status <> 'completed' then billable_ms <> 0
    when swept_at is null then billable_ms <> least(reserved_ms, ceil((samples - coalesce(replayed_samples, 0)) / 16000.0) * 1000)
    else billable_ms not between 0 and least(reserved_ms, ceil((samples - coalesce(replayed_samples, 0)) / 16000.0) * 1000)
      or billable_ms % 1000 <> 0
  end;
