-- A session has one reservation transaction and, once ended, one closing transaction, each with the
-- amount and kind in its row.
select s.account_id, s.id as session_id, s.status, t.reserves, t.ends
from sessions s
left join lateral (
  select
    count(*) filter (where kind = 'reserve') as reserves,
    count(*) filter (where kind <> 'reserve') as ends,
    count(*) filter (where kind = 'reserve' and reserved_ms = s.reserved_ms
      and available_ms = -s.reserved_ms) as right_reserves,
    count(*) filter (where kind::text = case s.status
        when 'completed' then 'complete' when 'failed' then 'fail' when 'expired' then 'expire' end
      and reserved_ms = -s.reserved_ms and consumed_ms = s.billable_ms
      and available_ms = s.reserved_ms - s.billable_ms) as right_ends
  from txn where session_id = s.id and account_id = s.account_id
) t on true
where t.reserves <> 1 or t.right_reserves <> 1
  or t.ends <> case when s.slot is null then 1 else 0 end
  or t.right_ends <> t.ends
union all
select t.account_id, t.session_id, null, null, null
from txn t left join sessions s on s.account_id = t.account_id and s.id = t.session_id
where t.session_id is not null and s.id is null;
