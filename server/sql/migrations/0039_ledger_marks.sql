-- What each running process was last told about the ledger's history. Only that process advances its mark, so a database
-- without the mark, or with an older one, has lost history that was acknowledged. Rows are written every two seconds and
-- mean nothing once their process has ended.
create table ledger_marks (
  process_id uuid primary key,
  node_id label not null,
  position bigint not null check (position >= 0),
  marked_at timestamptz not null,
  -- The process knows more than this database and takes no new work.
  refused_at timestamptz,
  -- An operator said that the loss is known and this database is to be used.
  accepted_at timestamptz,
  constraint only_a_refusal_is_accepted check (accepted_at is null or refused_at is not null)
) with (fillfactor = 50);
