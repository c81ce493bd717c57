-- A session has one reservation transaction and, once ended, one closing transaction, each with the
-- amount and kind in its row. One that was settled late has its failure and its late charge.
select s.account_id, s.id as session_id, s.status, t.reserves, t.ends
from sessions s
cross join lateral (select s.status = 'completed' and s.swept_at is not null as is_late) l
left join lateral (
  select
    count(*) filter (where kind = 'reserve') as reserves,
    count(*) filter (where kind not in ('reserve', 'settle_late')) as ends,
    count(*) filter (where kind = 'settle_late') as lates,
    count(*) filter (where kind = 'reserve' and reserved_ms = s.reserved_ms
      and available_ms = -s.reserved_ms) as right_reserves,
    count(*) filter (where kind::text = case
        when l.is_late or s.status = 'failed' then 'fail'
        when s.status = 'completed' then 'complete' when s.status = 'expired' then 'expire' end
      and reserved_ms = -s.reserved_ms
      and consumed_ms = case when l.is_late then 0 else s.billable_ms end
      and available_ms = s.reserved_ms - consumed_ms) as right_ends,
    count(*) filter (where kind = 'settle_late' and l.is_late and reserved_ms = 0
      and consumed_ms = s.billable_ms and available_ms = -s.billable_ms) as right_lates
  from txn where session_id = s.id and account_id = s.account_id
) t on true
where t.reserves <> 1 or t.right_reserves <> 1
  or t.ends <> case when s.slot is null then 1 else 0 end
  or t.right_ends <> t.ends
  or t.lates <> l.is_late::integer
  or t.right_lates <> t.lates
union all
select t.account_id, t.session_id, null, null, null
from txn t left join sessions s on s.account_id = t.account_id and s.id = t.session_id
where t.session_id is not null and s.id is null;
