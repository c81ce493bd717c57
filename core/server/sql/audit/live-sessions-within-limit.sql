-- No session was admitted above its account's limit. Sessions admitted before the limit was lowered may continue, and those that
-- their clients lost make room, up to twice the limit.
select s.account_id, count(*) as live, count(t.session_id) as lost, a.concurrency_limit
from sessions s join accounts a on a.id = s.account_id left join session_takeovers t on t.session_id = s.id
where s.slot is not null
group by s.account_id, a.concurrency_limit, a.limit_changed_at
having (count(*) - count(t.session_id) > a.concurrency_limit or count(*) > 2 * a.concurrency_limit)
  and max(s.created_at) > a.limit_changed_at;
