-- An account's consumed credit equals the sum of its sessions' charges.
select a.id as account_id, a.consumed_ms, coalesce(s.billed_ms, 0) as billed_ms
from accounts a
left join (select account_id, sum(billable_ms) as billed_ms from sessions group by account_id) s
  on s.account_id = a.id
where a.consumed_ms <> coalesce(s.billed_ms, 0);
