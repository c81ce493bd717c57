-- Transactions of an account are numbered from 1 to its last one, and each continues the balances
-- of the one before.
select account_id, seq, 'does not continue the one before' as problem
from (
  select t.*,
    lag(seq, 1, 0::bigint) over w as seq_before,
    lag(available_after_ms::bigint, 1, 0::bigint) over w as available_before,
    lag(reserved_after_ms::bigint, 1, 0::bigint) over w as reserved_before,
    lag(consumed_after_ms::bigint, 1, 0::bigint) over w as consumed_before
  from txn t window w as (partition by account_id order by seq)
) t
where seq <> seq_before + 1
  or available_after_ms <> available_before + available_ms
  or reserved_after_ms <> reserved_before + reserved_ms
  or consumed_after_ms <> consumed_before + consumed_ms
union all
select a.id, a.last_seq, 'the account counts another number of transactions'
from accounts a
where a.last_seq <> (select count(*) from txn t where t.account_id = a.id);
