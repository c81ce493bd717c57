-- All grants on one page. Only functions write money and sessions. No role may write their tables.

revoke all on
  cell, cell_peppers, live_audio, accounts, api_keys, waitlist, nodes, sweeper_watch, sessions, txn, entry, idempotency,
  claim_log, claims_given_back, audit_log, audit_sources, console_users, memberships, invitations, sign_in_codes, console_sessions, passkeys,
  passkey_challenges, operator_enrolments, security_notices, known_places, usage_by_key, usage_by_key_rolled, ledger_marks,
  session_end_requests, session_takeovers, lost_audio, session_details, api_calls, credit_levels, credit_notices, demo_claims, operator_grants,
  ledger_audits, credit_requests, credit_request_notices, status_days, incidents, cell_links, account_imports, account_arrivals
  from public, svc_api, svc_node, svc_sweeper, svc_console, svc_sign_in, svc_auditor, svc_operator, svc_mover;
-- By default PostgreSQL lets every role call a new function. Grants of earlier versions end here too.
revoke execute on all functions in schema public
  from public, svc_api, svc_node, svc_sweeper, svc_console, svc_sign_in, svc_auditor, svc_operator, svc_mover;
grant execute on function lease_length() to public;

-- Every long-running job checks the database's history before it uses a connection.
grant execute on function mark_ledger(uuid, text, bigint, uuid, uuid, boolean, uuid)
  to svc_api, svc_node, svc_sweeper, svc_console, svc_sign_in;

-- api: answers POST sessions and GET usage.
grant execute on function reserve_session(
  uuid, uuid, boolean, text, text, integer, bytea, bytea, text, text
) to svc_api;
grant execute on function touch_api_keys(text[]) to svc_api;
grant execute on function rehash_api_key(text, bytea, bytea, smallint) to svc_api;
grant execute on function report_peppers(smallint[], bytea[]) to svc_api;
grant execute on function record_calls(json) to svc_api;
grant execute on function record_status(text[], text[]), status_history() to svc_api;
grant select on incidents to svc_api;
grant select on api_keys, nodes, cell, cell_peppers to svc_api;
grant select on accounts, sessions, live_audio to svc_api;
grant select (account_id, seq, kind, session_id) on txn to svc_api;

-- node: spends credentials and settles streams.
grant execute on function claim_session(uuid, uuid, uuid, text, bigint) to svc_node;
grant execute on function give_back_session(uuid, uuid, uuid) to svc_node;
grant execute on function close_session(
  uuid, uuid, text, bigint, text, bigint, uuid, uuid, bigint, bigint[], text[], boolean
) to svc_node;
grant execute on function find_lost_audio(uuid, uuid[]) to svc_node;
grant execute on function live_session_expiry(uuid, uuid) to svc_node, svc_api;
grant execute on function request_takeover(uuid, uuid, text) to svc_node, svc_api;
grant execute on function register_node(text, text, text[], integer, text) to svc_node;
grant execute on function renew_node(text, bigint, integer, integer, boolean) to svc_node;
grant execute on function retire_node(text, bigint) to svc_node;
grant execute on function report_live_audio(text, bigint, uuid[], bigint[]) to svc_node;
grant execute on function record_streams(text, jsonb) to svc_node;
grant execute on function record_calls(json) to svc_node;
grant select on nodes, session_end_requests, session_takeovers to svc_node;
grant select (id, status, allowed_origins) on accounts to svc_node;

-- sweeper: ends expired reservations and orphaned sessions.
grant execute on function expire_reservations(integer) to svc_sweeper;
grant execute on function fail_orphans(integer) to svc_sweeper;
grant execute on function forget_idempotency(integer) to svc_sweeper;
grant select on sweeper_watch, nodes to svc_sweeper;

-- console: a developer's own keys and usage, and joining the waitlist.
grant execute on function create_api_key(uuid, text, bytea, text, text[], timestamptz, smallint) to svc_console;
grant execute on function rotate_api_key(uuid, text, text, bytea, timestamptz, smallint) to svc_console;
grant execute on function revoke_api_key(uuid, text) to svc_console;
grant execute on function rename_api_key(uuid, text, text) to svc_console;
grant select on cell to svc_console;
grant select (id, account_id, name, scopes, live_number, created_at, expires_at, revoked_at, last_used_at)
  on api_keys to svc_console;
grant select on accounts, sessions, live_audio to svc_console;
grant select (account_id, seq, kind, session_id, available_ms, reserved_ms, consumed_ms, available_after_ms,
  reserved_after_ms, consumed_after_ms, created_at) on txn to svc_console;
grant select on session_details, api_calls to svc_console;
grant execute on function forget_session_details(integer) to svc_console;
grant execute on function forget_calls() to svc_console;
grant execute on function check_credit_levels(integer) to svc_console;
grant select, update (email_due_at, email_tries), delete on credit_notices to svc_console;
grant execute on function first_reservation_at(uuid, timestamptz) to svc_console;
grant select on waitlist to svc_console;
grant insert (id, email, name, purpose, language) on waitlist to svc_console;
grant execute on function roll_up_usage_by_key(uuid, integer) to svc_console;
grant execute on function erase_account(uuid) to svc_console;
grant execute on function set_allowed_origins(uuid, text[]) to svc_console;
grant select on console_users, memberships, invitations, usage_by_key to svc_console;
grant update (language, welcomed_at, welcome_tries, welcome_after) on console_users to svc_console;
-- Joining an account takes an accepted invitation or an approval; leaving it is a plain delete.
grant update (role), delete on memberships to svc_console;
grant execute on function invite_member(uuid, uuid, uuid, text, text, text) to svc_console;
grant execute on function accept_invitation(uuid, uuid) to svc_console;
grant execute on function decline_invitation(uuid, uuid) to svc_console;
grant execute on function withdraw_invitation(uuid, uuid) to svc_console;
grant execute on function forget_person(uuid) to svc_console;
grant execute on function expire_invitations() to svc_console;
grant update (email_due_at, email_tries) on invitations to svc_console;
grant select on passkeys to svc_console;
grant execute on function passkey_change_problem(text, bytea) to svc_console;
grant execute on function remove_passkey(text, uuid) to svc_console;
grant select, update (email_due_at, email_tries), delete on security_notices to svc_console;
grant execute on function find_console_session(text) to svc_console;
grant execute on function close_console_session(text) to svc_console;
grant execute on function close_console_sessions(text) to svc_console;
grant execute on function list_console_sessions(text) to svc_console;
grant execute on function demo_state(bytea, integer, bytea, uuid, bigint) to svc_console;
grant execute on function claim_demo(bytea, integer, bytea), release_demo(bytea), forget_demo_claims() to svc_console;
grant execute on function close_other_console_session(text, uuid) to svc_console;
grant execute on function switch_console_account(text, uuid) to svc_console;
grant execute on function request_credit(uuid, uuid, uuid, bigint, text) to svc_console;
grant select on credit_requests to svc_console;
grant select, update (email_due_at, email_tries), delete on credit_request_notices to svc_console;
-- The pages of operators. Each change checks the token of an operator's session.
grant execute on function approve_as_operator(text, uuid, uuid, bigint, text) to svc_console;
grant execute on function decline_as_operator(text, uuid, text) to svc_console;
grant execute on function set_account_status_as_operator(text, uuid, account_status, text) to svc_console;
grant execute on function set_concurrency_as_operator(text, uuid, integer, text) to svc_console;
grant execute on function grant_as_operator(text, uuid, bigint, text, uuid) to svc_console;
grant execute on function decide_credit_request_as_operator(text, uuid, bigint, text) to svc_console;
grant execute on function charged_since(uuid, timestamptz) to svc_console;
grant select on nodes, ledger_audits, incidents to svc_console;

grant select on audit_log, audit_sources to svc_console;
grant execute on function forget_audit_sources() to svc_console;

-- sign-in: verifies codes and passkeys, and opens sessions. Sees no account, key or usage.
grant select (id, email) on console_users to svc_sign_in;
grant execute on function request_sign_in_code(uuid, uuid, bytea, bytea[], bytea[], bytea, interval) to svc_sign_in;
grant execute on function remember_places(uuid, bytea[]) to svc_sign_in;
grant execute on function use_sign_in_code(uuid, bytea[], integer) to svc_sign_in;
grant execute on function open_console_session(bytea, uuid, text, text, text) to svc_sign_in;
grant execute on function confirm_console_session(text, uuid) to svc_sign_in;
grant execute on function passkey_change_problem(text, bytea) to svc_sign_in;
grant execute on function add_passkey(text, bytea, uuid, text, bytea, bigint, text[], text, integer) to svc_sign_in;
grant select on passkeys to svc_sign_in;
-- Only the use of a passkey is updated.
grant update (counter, last_used_at) on passkeys to svc_sign_in;
grant select, insert, delete on passkey_challenges to svc_sign_in;

-- auditor: reads the ledger and no secrets.
grant select on
  accounts, waitlist, nodes, live_audio, sweeper_watch, ledger_marks, sessions, txn, entry, claim_log, claims_given_back, schema_migrations to svc_auditor;
grant select (account_id, session_id, expires_at) on idempotency to svc_auditor;
grant select (account_id, session_id, requested_at) on session_takeovers to svc_auditor;
grant select (id, account_id, name, scopes, live_number, created_at, expires_at, revoked_at, last_used_at, pepper_id)
  on api_keys to svc_auditor;

grant select on audit_log, audit_sources, cell, cell_peppers to svc_auditor;
grant select (id, email) on console_users to svc_auditor;
grant select (id, account_id, email) on invitations to svc_auditor;
grant execute on function log_command(text) to svc_auditor;
grant execute on function record_audit(jsonb, boolean) to svc_auditor;
grant select on ledger_audits to svc_auditor;

-- operator: svc-admin. Credit only by posting, never by writing a balance.
grant svc_auditor to svc_operator;
grant execute on function grant_credit(uuid, bigint, text, text, uuid) to svc_operator;
grant execute on function adjust_credit(uuid, bigint, text, text, uuid) to svc_operator;
grant execute on function set_concurrency(uuid, integer) to svc_operator;
grant execute on function set_key_limit(uuid, integer) to svc_operator;
grant execute on function create_api_key(uuid, text, bytea, text, text[], timestamptz, smallint) to svc_operator;
grant execute on function revoke_api_key(uuid, text) to svc_operator;
grant execute on function approve_waitlist(uuid, uuid, text) to svc_operator;
grant execute on function decline_waitlist(uuid, text, text) to svc_operator;
grant execute on function erase_waitlist_entry(uuid) to svc_operator;
grant select on credit_requests to svc_operator;
grant execute on function decide_credit_request(uuid, bigint, text, text) to svc_operator;
grant insert (id, name, email) on accounts to svc_operator;
grant update (name, email, status) on accounts to svc_operator;
grant select (id, email, is_operator) on console_users to svc_operator;
grant select (account_id, session_id, client, close_code, close_reason) on session_details to svc_operator;
grant execute on function set_operator(text, boolean) to svc_operator;
grant execute on function erase_account(uuid) to svc_operator;
grant execute on function request_session_end(uuid) to svc_operator;
grant execute on function set_allowed_origins(uuid, text[]) to svc_operator;
grant execute on function create_enrolment(text, uuid, bytea) to svc_operator;
grant execute on function create_sign_in_code(text, uuid, bytea, interval) to svc_operator;
grant execute on function reset_passkeys(text) to svc_operator;
grant execute on function accept_ledger_history(text) to svc_operator;
grant execute on function status_history(), status_recorded(text) to svc_operator;
grant select, insert (text, started_at, ended_at), update (text, started_at, ended_at, updated_at), delete on incidents to svc_operator;

-- mover: moves accounts between cells. Carries whole accounts that one cell signed for the other, and changes nothing
-- in them. It reads everything about an account and can interrupt its service, so treat its login as an operator's.
grant svc_auditor to svc_mover;
grant execute on function freeze_account(uuid, text) to svc_mover;
grant execute on function seal_account(uuid, uuid) to svc_mover;
grant execute on function cancel_move(uuid) to svc_mover;
grant execute on function export_signed(uuid, uuid) to svc_mover;
grant execute on function digest_account(uuid) to svc_mover;
grant execute on function cell_link_fingerprint(text) to svc_mover;
grant execute on function begin_import(uuid, text, text) to svc_mover;
grant execute on function import_rows(uuid, uuid, text, text[]) to svc_mover;
grant execute on function finish_import(uuid, uuid, text) to svc_mover;
grant execute on function arrival_receipt(uuid, uuid) to svc_mover;
grant execute on function depart_account(uuid, uuid, text) to svc_mover;
grant execute on function departure_receipt(uuid, uuid) to svc_mover;
grant execute on function open_account(uuid, uuid, text) to svc_mover;
