-- An account's balances are the sums of its entries, and the contra side is the granted credit.
select a.id as account_id, a.granted_ms, a.available_ms, a.reserved_ms, a.consumed_ms
from accounts a
left join (
  select account_id,
    sum(granted_ms) as granted, sum(available_ms) as available, sum(reserved_ms) as reserved,
    sum(consumed_ms) as consumed
  from txn group by account_id
) t on t.account_id = a.id
where (a.granted_ms, a.available_ms, a.reserved_ms, a.consumed_ms) is distinct from
  (-coalesce(t.granted, 0), coalesce(t.available, 0), coalesce(t.reserved, 0),
    coalesce(t.consumed, 0));
