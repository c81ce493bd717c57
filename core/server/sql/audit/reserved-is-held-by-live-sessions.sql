-- An account's reserved credit equals the reservations of its live sessions.
select a.id as account_id, a.reserved_ms, coalesce(s.held_ms, 0) as held_ms
from accounts a
left join (
  select account_id, sum(reserved_ms) as held_ms from sessions where slot is not null group by account_id
) s on s.account_id = a.id
where a.reserved_ms <> coalesce(s.held_ms, 0);
