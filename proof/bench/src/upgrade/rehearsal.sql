-- The next version's migration, as far as a campaign can know it: a column in each of the two busiest tables, and a
-- new table. Statements that the old version has prepared must go on working.
alter table accounts add column rehearsal_note text;
alter table sessions add column rehearsal_ms bigint not null default 0;
create table rehearsal_notes (
  session_id uuid primary key,
  noted_at timestamptz not null default clock_timestamp()
);
