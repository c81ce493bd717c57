-- Claims that opened no stream: their upgrade was refused, or its client left before the answer. A statement of such an
-- upgrade that arrives late claims nothing.
create table claims_given_back (
  account_id uuid not null,
  session_id uuid not null,
  upgrade_id uuid not null,
  given_back_at timestamptz not null,
  primary key (account_id, session_id, upgrade_id)
);
