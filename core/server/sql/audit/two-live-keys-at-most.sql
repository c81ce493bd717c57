-- An account has two live keys at most, and no revoked key counts as live.
select account_id, count(*) as live_keys
from api_keys
where revoked_at is null and (expires_at is null or expires_at > now())
group by account_id having count(*) > 2;
