-- No session was admitted above its account's limit. Sessions admitted before the limit was lowered may continue.
select s.account_id, count(*) as live, a.concurrency_limit
from sessions s join accounts a on a.id = s.account_id
where s.slot is not null
group by s.account_id, a.concurrency_limit, a.limit_changed_at
having count(*) > a.concurrency_limit and max(s.created_at) > a.limit_changed_at;
