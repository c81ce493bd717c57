-- The entries of every transaction sum to zero.
select account_id, seq, sum(amount_ms) as sum_ms
from entry group by account_id, seq having sum(amount_ms) <> 0;
