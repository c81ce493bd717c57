-- Sessions that an operator wants to end. The node that serves a session looks for it with every renewal of its lease.
create table session_end_requests (
  session_id uuid primary key,
  account_id uuid not null references accounts,
  requested_at timestamptz not null default clock_timestamp()
);
