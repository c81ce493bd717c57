alter table sessions validate constraint sessions_billed_by_samples;
-- Left by a run that was interrupted, and not valid.
drop index concurrently if exists sessions_continued;
-- Audio is handed on once.
create unique index concurrently sessions_continued on sessions (account_id, continues) where continues is not null;
