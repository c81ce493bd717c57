-- Two live sessions of an account never have the same slot.
select account_id, slot, count(*) as sessions
from sessions where slot is not null group by account_id, slot having count(*) > 1;
