-- A credential lasts sixty seconds, and a session has an end time exactly when it has ended.
select account_id, id as session_id, status, created_at, expires_at, completed_at
from sessions
where expires_at <> created_at + interval '60 seconds'
  or (status = 'expired' and completed_at <> expires_at)
  or (slot is null) <> (status in ('completed', 'failed', 'expired'))
  or (slot is null) <> (completed_at is not null);
