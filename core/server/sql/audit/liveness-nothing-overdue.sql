-- No expired reservation and no session of a lost node is overdue by more than ten seconds. Holds
-- while a sweeper runs, and is not checked while the sweeper pauses after a database outage.
select s.account_id, s.id as session_id, s.status,
  case when s.status = 'reserved' and s.expires_at < now() - interval '10 seconds'
    then 'expired' else 'its node is gone' end as problem
from sessions s
left join nodes n on n.id = s.node_id
cross join sweeper_watch w
where s.slot is not null
  and greatest(w.quiet_until, pg_postmaster_start_time() + 2 * lease_length())
    < now() - interval '10 seconds'
  and (
    (s.status = 'reserved' and s.expires_at < now() - interval '10 seconds')
    or n.id is null
    or n.retired_at < now() - interval '10 seconds'
    or n.lease_until < now() - interval '10 seconds'
    or (s.node_epoch < n.epoch and n.started_at < now() - interval '10 seconds')
  );
