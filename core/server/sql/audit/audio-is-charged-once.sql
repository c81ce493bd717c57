-- Audio that a client sent again is charged in the session that lost it and nowhere else: that session was charged, has as
-- much audio, and handed it to one other session only.
select s.account_id, s.id as session_id, s.continues, s.replayed_samples, lost.status, lost.samples
from sessions s left join sessions lost on lost.account_id = s.account_id and lost.id = s.continues
where s.continues is not null
  and ((lost.status = 'completed' and lost.id <> s.id and s.replayed_samples between 1 and least(s.samples, lost.samples)) is not true
    or exists (
      select from sessions other
      where other.account_id = s.account_id and other.continues = s.continues and other.id <> s.id));
