-- A node that only seemed dead may still settle its sessions for a while (ADR 0027).

-- When the sweeper failed it, because its node seemed gone.
alter table sessions add column swept_at timestamptz;

alter table sessions drop constraint billed_by_the_meter;
alter table sessions add constraint billed_by_the_meter check (
  samples between 0 and reserved_ms * 16
  and audio_ms = (samples + 15) / 16
  and case
    when status <> 'completed' then billable_ms = 0
    -- The credit was returned, so only what is still available can be charged.
    when swept_at is not null then billable_ms % 1000 = 0
      and billable_ms between 0 and least(reserved_ms, (samples + 15999) / 16000 * 1000)
    else billable_ms = least(reserved_ms, (samples + 15999) / 16000 * 1000)
  end);
alter table sessions add constraint swept_is_over check (swept_at is null or status in ('completed', 'failed'));

-- A session's money is set aside once, leaves once, and is charged late once at most.
create unique index txn_session_once on txn (session_id, account_id, (kind = 'reserve'), (kind = 'settle_late'))
  where session_id is not null;
drop index txn_session;
alter index txn_session_once rename to txn_session;
