-- Who may do what, on one page. Money and sessions are written by functions alone: no role may
-- write their tables.

revoke all on
  accounts, api_keys, waitlist, nodes, sweeper_watch, sessions, txn, entry, idempotency, claim_log,
  console_users, sign_in_codes, console_sessions, passkeys, passkey_challenges, usage_days, usage_rolled
  from public, svc_api, svc_node, svc_sweeper, svc_console, svc_auditor, svc_operator;
-- PostgreSQL lets everybody call a new function unless told otherwise.
revoke execute on all functions in schema public from public;
grant execute on function lease_length() to public;

-- api: answers POST sessions and GET usage.
grant execute on function reserve_session(
  uuid, uuid, boolean, text, text, integer, bytea, bytea, text, text
) to svc_api;
grant execute on function touch_api_keys(text[]) to svc_api;
grant select on api_keys, nodes to svc_api;
grant select on accounts, sessions to svc_api;
grant select (account_id, seq, kind, session_id) on txn to svc_api;

-- node: spends credentials and settles streams.
grant execute on function claim_session(uuid, uuid, uuid, text, bigint) to svc_node;
grant execute on function close_session(uuid, uuid, text, bigint, text, bigint) to svc_node;
grant execute on function register_node(text, text, text[], integer) to svc_node;
grant execute on function renew_node(text, bigint, integer, integer, boolean) to svc_node;
grant execute on function retire_node(text, bigint) to svc_node;
grant select on nodes to svc_node;
grant select (id, status) on accounts to svc_node;

-- sweeper: ends what nobody else ends.
grant execute on function expire_lapsed(integer) to svc_sweeper;
grant execute on function fail_orphans(integer) to svc_sweeper;
grant execute on function forget_idempotency(integer) to svc_sweeper;
grant select on sweeper_watch, nodes to svc_sweeper;

-- console: a developer's own keys and usage, and the way in.
grant execute on function create_api_key(uuid, text, bytea, text, text[], timestamptz) to svc_console;
grant execute on function revoke_api_key(uuid, text) to svc_console;
grant select (id, account_id, name, scopes, slot, created_at, expires_at, revoked_at, last_used_at)
  on api_keys to svc_console;
grant select on accounts, sessions to svc_console;
grant select (account_id, seq, kind, session_id, available_after_ms, reserved_after_ms, consumed_after_ms, created_at)
  on txn to svc_console;
grant select on waitlist to svc_console;
grant insert (id, email, name, purpose, language) on waitlist to svc_console;
grant execute on function create_sign_in_code(uuid, uuid, bytea, bytea, bytea, interval) to svc_console;
grant execute on function use_sign_in_code(uuid, bytea, integer) to svc_console;
grant execute on function roll_up_usage(uuid, integer) to svc_console;
grant execute on function approve_as_operator(uuid, uuid, uuid, bigint) to svc_console;
grant execute on function decline_as_operator(uuid, uuid) to svc_console;
grant execute on function erase_account(uuid) to svc_console;
grant execute on function set_allowed_origins(uuid, text[]) to svc_console;
grant select on console_users, console_sessions, usage_days to svc_console;
grant insert (id, account_id, email, role, language), delete on console_users to svc_console;
grant update (role, language, welcomed_at, welcome_tries, welcome_after) on console_users to svc_console;
grant insert, delete on console_sessions to svc_console;
grant select, insert, delete on passkeys, passkey_challenges to svc_console;
-- A passkey changes by being used, and in no other way.
grant update (counter, last_used_at) on passkeys to svc_console;

-- auditor: reads the books and nothing secret.
grant select on
  accounts, waitlist, nodes, sweeper_watch, sessions, txn, entry, claim_log, schema_migrations to svc_auditor;
grant select (account_id, session_id, expires_at) on idempotency to svc_auditor;
grant select (id, account_id, name, scopes, slot, created_at, expires_at, revoked_at, last_used_at)
  on api_keys to svc_auditor;

-- operator: svc-admin. Credit only by posting, never by writing a balance.
grant svc_auditor to svc_operator;
grant execute on function grant_credit(uuid, bigint, text, text, uuid) to svc_operator;
grant execute on function adjust_credit(uuid, bigint, text, text, uuid) to svc_operator;
grant execute on function set_concurrency(uuid, integer) to svc_operator;
grant execute on function create_api_key(uuid, text, bytea, text, text[], timestamptz) to svc_operator;
grant execute on function revoke_api_key(uuid, text) to svc_operator;
grant execute on function approve_waitlist(uuid, uuid, text) to svc_operator;
grant insert (id, name, email) on accounts to svc_operator;
grant update (name, email, status, allowed_origins) on accounts to svc_operator;
grant update (status, decided_at, decided_by) on waitlist to svc_operator;
grant select (id, account_id, email, role, is_operator) on console_users to svc_operator;
grant update (is_operator) on console_users to svc_operator;
