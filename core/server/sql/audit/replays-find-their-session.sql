-- Every idempotency key refers to a session of the same account with the same expiry.
select i.account_id, i.session_id
from idempotency i left join sessions s on s.account_id = i.account_id and s.id = i.session_id
where s.id is null or s.expires_at <> i.expires_at;
