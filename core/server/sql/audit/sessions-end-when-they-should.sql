-- A credential lasts sixty seconds, and a session has an end time exactly when it has ended. A session
-- that the sweeper failed completes within five minutes, if at all.
select account_id, id as session_id, status, created_at, expires_at, completed_at
from sessions
where expires_at <> created_at + interval '60 seconds'
  or (status = 'expired' and completed_at <> expires_at)
  or (slot is null) <> (status in ('completed', 'failed', 'expired'))
  or (slot is null) <> (completed_at is not null)
  or (swept_at is not null and status not in ('completed', 'failed'))
  or (status = 'completed' and completed_at not between swept_at and swept_at + interval '5 minutes');
