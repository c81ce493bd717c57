-- Every live key has a number, so that the unique index limits how many there are.
select account_id, id
from api_keys
where revoked_at is null and (expires_at is null or expires_at > now()) and live_number is null;
