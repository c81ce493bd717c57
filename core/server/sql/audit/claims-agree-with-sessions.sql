-- Every claimed session has one claim and every claim one session, by the same upgrade and before the expiry. A claim that
-- was given back is none.
select coalesce(s.account_id, c.account_id) as account_id,
  coalesce(s.id, c.session_id) as session_id, s.status
from (select * from sessions where claimed_at is not null) s
full join claim_log c on c.account_id = s.account_id and c.session_id = s.id
where (s.upgrade_id, s.node_id, s.node_epoch, s.claimed_at) is distinct from
    (c.upgrade_id, c.node_id, c.node_epoch, c.claimed_at)
  or s.claimed_at >= s.expires_at
  or exists (select from claims_given_back g
    where g.account_id = s.account_id and g.session_id = s.id and g.upgrade_id = s.upgrade_id);
