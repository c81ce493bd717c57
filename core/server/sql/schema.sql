-- The schema after all migrations, with the triggers and rights of functions/. Tables are in the order of their creation.
-- Made from the catalogue of a migrated database, to read and to compare. After a change, write it again:
--   npx vitest run core/server/test/operations/schema.test.ts -u

-- Types

create domain email_address as text constraint email_address_check CHECK (length(VALUE) >= 3 AND length(VALUE) <= 320) constraint email_is_normal CHECK (octet_length(VALUE) = length(VALUE) AND VALUE !~ '[\x01-\x20\x7f]'::text AND VALUE = lower(VALUE COLLATE "C"));
create domain label as text constraint label_check CHECK (length(VALUE) <= 200);
create domain milliseconds as bigint constraint milliseconds_check CHECK (VALUE >= 0);
create domain reason as text constraint reason_check CHECK (length(VALUE) >= 1 AND length(VALUE) <= 500);
create domain reservation_ms as integer constraint reservation_ms_check CHECK (VALUE >= 1000 AND VALUE <= 300000 AND (VALUE % 1000) = 0);
create domain sha256_hash as bytea constraint sha256_hash_check CHECK (length(VALUE) = 32);
create domain slot_number as integer constraint slot_number_check CHECK (VALUE >= 1 AND VALUE <= 10000);
create type account_status as enum ('active', 'suspended');
create type move_state as enum ('moving', 'sealed', 'moved', 'copying', 'arriving');
create type session_status as enum ('reserved', 'active', 'completed', 'failed', 'expired');
create type txn_kind as enum ('grant', 'adjust', 'reserve', 'complete', 'fail', 'expire', 'settle_late');
create type waitlist_status as enum ('waiting', 'approved', 'declined');

create table schema_migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint schema_migrations_pkey PRIMARY KEY (name)
);
grant select on schema_migrations to svc_auditor;

create table accounts (
  id uuid not null,
  name label not null,
  email email_address,
  status account_status not null default 'active'::account_status,
  concurrency_limit slot_number not null default 1,
  limit_changed_at timestamp with time zone not null default clock_timestamp(),
  allowed_origins text[],
  granted_ms milliseconds not null default 0,
  available_ms milliseconds not null default 0,
  reserved_ms milliseconds not null default 0,
  consumed_ms milliseconds not null default 0,
  last_seq bigint not null default 0,
  created_at timestamp with time zone not null default clock_timestamp(),
  move_state move_state,
  move_id uuid,
  move_cell text,
  key_limit smallint not null default 10,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_balance_adds_up CHECK (granted_ms::bigint = (available_ms::bigint + reserved_ms::bigint + consumed_ms::bigint)),
  constraint accounts_key_limit_check CHECK (key_limit >= 1 AND key_limit <= 100)
) with (fillfactor=50);
CREATE TRIGGER accounts_audit AFTER INSERT OR DELETE OR UPDATE OF status, concurrency_limit, key_limit, allowed_origins, move_state ON accounts FOR EACH ROW EXECUTE FUNCTION audit_change('account', 'id', 'status concurrency_limit key_limit allowed_origins move_state move_cell');
CREATE CONSTRAINT TRIGGER accounts_balance_matches_ledger AFTER UPDATE OF granted_ms, available_ms, reserved_ms, consumed_ms, last_seq ON accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_balance();
CREATE CONSTRAINT TRIGGER accounts_copy_complete AFTER INSERT OR UPDATE OF move_state ON accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.move_state = 'copying'::move_state) EXECUTE FUNCTION check_not_copying();
CREATE TRIGGER accounts_locked_during_move BEFORE UPDATE ON accounts FOR EACH ROW WHEN ((old.move_state = ANY (ARRAY['sealed'::move_state, 'moved'::move_state, 'arriving'::move_state])) AND NOT new.move_state IS DISTINCT FROM old.move_state) EXECUTE FUNCTION refuse_change('the account is between two cells');
CREATE TRIGGER accounts_move_changed AFTER UPDATE OF move_state ON accounts FOR EACH ROW WHEN (old.move_state IS DISTINCT FROM new.move_state) EXECUTE FUNCTION notify_account_keys_changed();
CREATE TRIGGER accounts_start_without_credit BEFORE INSERT ON accounts FOR EACH ROW WHEN (new.granted_ms::bigint <> 0 OR new.last_seq <> 0) EXECUTE FUNCTION refuse_change('an account starts without credit; grant it some');
CREATE TRIGGER accounts_status_changed AFTER UPDATE OF status ON accounts FOR EACH ROW WHEN (old.status IS DISTINCT FROM new.status) EXECUTE FUNCTION notify_account_keys_changed();
grant select on accounts to svc_api;
grant select on accounts to svc_auditor;
grant select on accounts to svc_console;
grant select (id, status, allowed_origins) on accounts to svc_node;
grant insert (id, name, email), update (name, email, status) on accounts to svc_operator;

create table waitlist (
  id uuid not null,
  email email_address not null,
  name label not null default ''::text,
  purpose text not null default ''::text,
  language text not null default 'en'::text,
  status waitlist_status not null default 'waiting'::waitlist_status,
  account_id uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  decided_at timestamp with time zone,
  decided_by label,
  decision_reason text,
  granted_ms bigint,
  constraint waitlist_pkey PRIMARY KEY (id),
  constraint waitlist_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint waitlist_approved_has_account CHECK ((status = 'approved'::waitlist_status) = (account_id IS NOT NULL)),
  constraint waitlist_decided_has_time CHECK ((status = 'waiting'::waitlist_status) = (decided_at IS NULL)),
  constraint waitlist_decision_reason_check CHECK (length(decision_reason) <= 500),
  constraint waitlist_granted_ms_check CHECK (granted_ms > 0),
  constraint waitlist_language_check CHECK (language = ANY (ARRAY['en'::text, 'sw'::text])),
  constraint waitlist_purpose_check CHECK (length(purpose) <= 2000)
);
CREATE UNIQUE INDEX waitlist_email ON waitlist USING btree (email);
CREATE INDEX waitlist_status ON waitlist USING btree (status, created_at, id);
CREATE INDEX waitlist_waiting ON waitlist USING btree (created_at) WHERE (status = 'waiting'::waitlist_status);
CREATE TRIGGER waitlist_audit AFTER UPDATE OF status ON waitlist FOR EACH ROW EXECUTE FUNCTION audit_change('waitlist', 'id', 'status account_id');
grant select on waitlist to svc_auditor;
grant insert (id, email, name, purpose, language), select on waitlist to svc_console;

create table api_keys (
  id text not null,
  account_id uuid not null,
  hmac bytea not null,
  pepper_id smallint not null default 0,
  name label not null default ''::text,
  scopes text[],
  live_number smallint,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint api_keys_hmac_check CHECK (length(hmac) = 32),
  constraint api_keys_id_check CHECK (id ~ '^[0-9A-Za-z]{12}$'::text),
  constraint api_keys_live_number_check CHECK (live_number >= 1 AND live_number <= 200),
  constraint api_keys_pepper_id_check CHECK (pepper_id >= 0 AND pepper_id <= 255),
  constraint api_keys_revoked_is_not_live CHECK (revoked_at IS NULL OR live_number IS NULL),
  constraint api_keys_scopes_check CHECK (cardinality(scopes) > 0)
) with (fillfactor=80);
CREATE INDEX api_keys_account ON api_keys USING btree (account_id);
CREATE UNIQUE INDEX api_keys_live ON api_keys USING btree (account_id, live_number) WHERE (live_number IS NOT NULL);
CREATE TRIGGER api_keys_audit AFTER INSERT OR DELETE OR UPDATE OF scopes, expires_at, revoked_at ON api_keys FOR EACH ROW EXECUTE FUNCTION audit_change('api_key', 'id', 'scopes expires_at revoked_at');
CREATE TRIGGER api_keys_changed AFTER DELETE OR UPDATE OF account_id, hmac, scopes, expires_at, revoked_at ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_key_changed();
CREATE TRIGGER api_keys_locked_during_move BEFORE INSERT OR DELETE OR UPDATE OF account_id, name, scopes, live_number, expires_at, revoked_at ON api_keys FOR EACH ROW EXECUTE FUNCTION refuse_during_move();
grant select on api_keys to svc_api;
grant select (id, account_id, pepper_id, name, scopes, live_number, created_at, expires_at, revoked_at, last_used_at) on api_keys to svc_auditor;
grant select (id, account_id, name, scopes, live_number, created_at, expires_at, revoked_at, last_used_at) on api_keys to svc_console;

create table sessions (
  account_id uuid not null,
  id uuid not null,
  key_id text,
  model text not null,
  status session_status not null default 'reserved'::session_status,
  slot slot_number,
  reserved_ms reservation_ms not null,
  remaining_ms milliseconds not null,
  websocket_url text not null,
  node_id text not null,
  node_epoch bigint,
  upgrade_id uuid,
  samples bigint not null default 0,
  audio_ms integer not null default 0,
  billable_ms integer not null default 0,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  claimed_at timestamp with time zone,
  completed_at timestamp with time zone,
  swept_at timestamp with time zone,
  continues uuid,
  replayed_samples bigint,
  constraint sessions_pkey PRIMARY KEY (account_id, id),
  constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint sessions_billed_by_samples CHECK (samples >= 0 AND samples <= (reserved_ms::integer * 16) AND audio_ms = ((samples + 15) / 16) AND (continues IS NULL) = (replayed_samples IS NULL) AND COALESCE(replayed_samples >= 1 AND replayed_samples <= samples, true) AND
  CASE
      WHEN status <> 'completed'::session_status THEN billable_ms = 0 AND continues IS NULL
      WHEN swept_at IS NOT NULL THEN (billable_ms % 1000) = 0 AND billable_ms >= 0 AND billable_ms <= LEAST(reserved_ms::bigint, (samples - COALESCE(replayed_samples, 0::bigint) + 15999) / 16000 * 1000)
      ELSE billable_ms = LEAST(reserved_ms::bigint, (samples - COALESCE(replayed_samples, 0::bigint) + 15999) / 16000 * 1000)
  END),
  constraint sessions_claimed_before_expiry CHECK (
  CASE
      WHEN claimed_at IS NULL THEN (status <> ALL (ARRAY['active'::session_status, 'completed'::session_status])) AND samples = 0
      ELSE claimed_at < expires_at AND upgrade_id IS NOT NULL AND node_epoch IS NOT NULL
  END),
  constraint sessions_slot_while_live CHECK ((status = ANY (ARRAY['reserved'::session_status, 'active'::session_status])) = (slot IS NOT NULL) AND (status = ANY (ARRAY['reserved'::session_status, 'active'::session_status])) = (completed_at IS NULL)),
  constraint sessions_swept_has_ended CHECK (swept_at IS NULL OR (status = ANY (ARRAY['completed'::session_status, 'failed'::session_status])))
) with (fillfactor=50);
CREATE UNIQUE INDEX sessions_continued ON sessions USING btree (account_id, continues) WHERE (continues IS NOT NULL);
CREATE INDEX sessions_failed ON sessions USING btree (completed_at) WHERE (status = 'failed'::session_status);
CREATE UNIQUE INDEX sessions_live ON sessions USING btree (account_id, slot) WHERE (slot IS NOT NULL);
CREATE CONSTRAINT TRIGGER sessions_late_settlement_posted AFTER UPDATE OF status ON sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.status = 'failed'::session_status AND new.status = 'completed'::session_status) EXECUTE FUNCTION check_late_settlement();
CREATE CONSTRAINT TRIGGER sessions_match_reserved_credit AFTER INSERT OR UPDATE OF slot ON sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_reserved_credit();
CREATE TRIGGER sessions_not_deleted BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION refuse_change('the ledger refers to sessions');
CREATE TRIGGER sessions_not_truncated BEFORE TRUNCATE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the ledger refers to sessions');
CREATE TRIGGER sessions_valid_transition BEFORE UPDATE ON sessions FOR EACH ROW WHEN ((old.status = ANY (ARRAY['completed'::session_status, 'failed'::session_status, 'expired'::session_status])) AND is_late_settlement(old.*, new.*) IS NOT TRUE OR old.status = 'active'::session_status AND new.status = 'expired'::session_status OR old.status = 'active'::session_status AND new.status = 'reserved'::session_status AND (new.claimed_at IS NULL AND is_given_back(old.account_id, old.id, old.upgrade_id)) IS NOT TRUE OR old.status = 'reserved'::session_status AND new.status = 'completed'::session_status) EXECUTE FUNCTION refuse_change('an ended session never changes, and no status goes back');
grant select on sessions to svc_api;
grant select on sessions to svc_auditor;
grant select on sessions to svc_console;

create table idempotency (
  account_id uuid not null,
  key_hash sha256_hash not null,
  request_hash sha256_hash not null,
  session_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (account_id, key_hash)
) with (fillfactor=80);
CREATE INDEX idempotency_expiry ON idempotency USING btree (expires_at);
grant select (account_id, session_id, expires_at) on idempotency to svc_auditor;

create table claim_log (
  account_id uuid not null,
  session_id uuid not null,
  upgrade_id uuid not null,
  node_id text not null,
  node_epoch bigint not null,
  claimed_at timestamp with time zone not null,
  constraint claim_log_pkey PRIMARY KEY (account_id, session_id)
);
CREATE TRIGGER claim_log_not_deleted BEFORE DELETE ON claim_log FOR EACH ROW WHEN (is_given_back(old.account_id, old.session_id, old.upgrade_id) IS NOT TRUE) EXECUTE FUNCTION refuse_change('a credential is spent once');
CREATE TRIGGER claim_log_not_truncated BEFORE TRUNCATE ON claim_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a credential is spent once');
CREATE TRIGGER claim_log_not_updated BEFORE UPDATE ON claim_log FOR EACH ROW EXECUTE FUNCTION refuse_change('a credential is spent once');
grant select on claim_log to svc_auditor;

create table session_end_requests (
  session_id uuid not null,
  account_id uuid not null,
  requested_at timestamp with time zone not null default clock_timestamp(),
  constraint session_end_requests_pkey PRIMARY KEY (session_id),
  constraint session_end_requests_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);
grant select on session_end_requests to svc_node;

create table txn (
  account_id uuid not null,
  seq bigint not null,
  kind txn_kind not null,
  session_id uuid,
  request_id uuid,
  actor label,
  reason reason,
  granted_ms bigint not null,
  available_ms bigint not null,
  reserved_ms bigint not null,
  consumed_ms bigint not null,
  available_after_ms milliseconds not null,
  reserved_after_ms milliseconds not null,
  consumed_after_ms milliseconds not null,
  created_at timestamp with time zone not null,
  constraint txn_pkey PRIMARY KEY (account_id, seq),
  constraint txn_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint txn_entries_sum_to_zero CHECK ((granted_ms + available_ms + reserved_ms + consumed_ms) = 0),
  constraint txn_fields_of_kind CHECK (
  CASE
      WHEN kind = ANY (ARRAY['grant'::txn_kind, 'adjust'::txn_kind]) THEN session_id IS NULL AND request_id IS NOT NULL AND actor::text <> ''::text AND reason IS NOT NULL
      ELSE session_id IS NOT NULL AND granted_ms = 0
  END)
);
CREATE UNIQUE INDEX txn_request ON txn USING btree (account_id, request_id) WHERE (request_id IS NOT NULL);
CREATE UNIQUE INDEX txn_session ON txn USING btree (session_id, account_id, ((kind = 'reserve'::txn_kind)), ((kind = 'settle_late'::txn_kind))) WHERE (session_id IS NOT NULL);
CREATE TRIGGER txn_append_only BEFORE DELETE OR UPDATE ON txn FOR EACH ROW EXECUTE FUNCTION refuse_change('the ledger only grows; post an adjustment instead');
CREATE TRIGGER txn_audit AFTER INSERT ON txn FOR EACH ROW WHEN (new.kind = ANY (ARRAY['grant'::txn_kind, 'adjust'::txn_kind])) EXECUTE FUNCTION audit_credit();
CREATE CONSTRAINT TRIGGER txn_consistent AFTER INSERT ON txn DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_txn();
CREATE TRIGGER txn_credit_levels AFTER INSERT ON txn FOR EACH ROW WHEN (new.granted_ms < 0) EXECUTE FUNCTION restart_credit_levels();
CREATE TRIGGER txn_not_truncated BEFORE TRUNCATE ON txn FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the ledger only grows');
grant select (account_id, seq, kind, session_id) on txn to svc_api;
grant select on txn to svc_auditor;
grant select (account_id, seq, kind, session_id, available_ms, reserved_ms, consumed_ms, available_after_ms, reserved_after_ms, consumed_after_ms, created_at) on txn to svc_console;

create table usage_by_key (
  account_id uuid not null,
  day date not null,
  model text not null,
  key_id text not null,
  billable_ms bigint not null,
  sessions bigint not null,
  constraint usage_by_key_pkey PRIMARY KEY (account_id, day, model, key_id),
  constraint usage_by_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint usage_by_key_billable_ms_check CHECK (billable_ms >= 0),
  constraint usage_by_key_sessions_check CHECK (sessions >= 0)
);
grant select on usage_by_key to svc_console;

create table usage_by_key_rolled (
  account_id uuid not null,
  rolled_seq bigint not null default 0,
  constraint usage_by_key_rolled_pkey PRIMARY KEY (account_id),
  constraint usage_by_key_rolled_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

create table credit_levels (
  account_id uuid not null,
  base_ms bigint not null,
  level smallint not null default 100,
  seen_seq bigint not null,
  constraint credit_levels_pkey PRIMARY KEY (account_id),
  constraint credit_levels_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

create table ledger_marks (
  process_id uuid not null,
  node_id label not null,
  "position" bigint not null,
  marked_at timestamp with time zone not null,
  refused_at timestamp with time zone,
  accepted_at timestamp with time zone,
  constraint ledger_marks_pkey PRIMARY KEY (process_id),
  constraint ledger_marks_accepted_after_refusal CHECK (accepted_at IS NULL OR refused_at IS NOT NULL),
  constraint ledger_marks_position_check CHECK ("position" >= 0)
) with (fillfactor=50);
grant select on ledger_marks to svc_auditor;

create table ledger_audits (
  invariant text not null,
  about text not null,
  ran_at timestamp with time zone not null,
  took_ms integer not null,
  violations integer not null,
  constraint ledger_audits_pkey PRIMARY KEY (invariant),
  constraint ledger_audits_about_check CHECK (length(about) <= 1000),
  constraint ledger_audits_invariant_check CHECK (length(invariant) <= 100)
);
grant select on ledger_audits to svc_auditor;
grant select on ledger_audits to svc_console;

create table nodes (
  id text not null,
  epoch bigint not null,
  login text not null,
  version text,
  public_url text not null,
  models text[] not null,
  capacity integer not null,
  active integer not null default 0,
  draining boolean not null default false,
  started_at timestamp with time zone not null,
  renewed_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  retired_at timestamp with time zone,
  constraint nodes_pkey PRIMARY KEY (id),
  constraint nodes_active_check CHECK (active >= 0),
  constraint nodes_capacity_check CHECK (capacity >= 0),
  constraint nodes_epoch_check CHECK (epoch >= 1),
  constraint nodes_id_check CHECK (length(id) >= 1 AND length(id) <= 200),
  constraint nodes_models_check CHECK (cardinality(models) > 0),
  constraint nodes_version_check CHECK (length(version) <= 60)
) with (fillfactor=50);
grant select on nodes to svc_api;
grant select on nodes to svc_auditor;
grant select on nodes to svc_console;
grant select on nodes to svc_node;
grant select on nodes to svc_sweeper;

create table sweeper_watch (
  only_row boolean not null default true,
  last_tick_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  quiet_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint sweeper_watch_pkey PRIMARY KEY (only_row),
  constraint sweeper_watch_only_row_check CHECK (only_row)
) with (fillfactor=50);
grant select on sweeper_watch to svc_auditor;
grant select on sweeper_watch to svc_sweeper;

create unlogged table live_audio (
  node_id text not null,
  node_epoch bigint not null,
  reported_at timestamp with time zone not null,
  session_ids uuid[] not null,
  samples bigint[] not null,
  constraint live_audio_pkey PRIMARY KEY (node_id),
  constraint live_audio_one_count_per_session CHECK (cardinality(session_ids) = cardinality(samples))
) with (fillfactor=50);
grant select on live_audio to svc_api;
grant select on live_audio to svc_auditor;
grant select on live_audio to svc_console;

create table console_users (
  id uuid not null,
  email email_address not null,
  language text not null default 'en'::text,
  is_operator boolean not null default false,
  created_at timestamp with time zone not null default clock_timestamp(),
  first_sign_in_at timestamp with time zone,
  welcomed_at timestamp with time zone,
  welcome_tries integer not null default 0,
  welcome_after timestamp with time zone not null default clock_timestamp(),
  constraint console_users_pkey PRIMARY KEY (id),
  constraint console_users_language_check CHECK (language = ANY (ARRAY['en'::text, 'sw'::text]))
);
CREATE UNIQUE INDEX console_users_email ON console_users USING btree (email);
CREATE INDEX console_users_unwelcomed ON console_users USING btree (welcome_after) WHERE (welcomed_at IS NULL);
CREATE TRIGGER console_users_audit AFTER UPDATE OF is_operator ON console_users FOR EACH ROW EXECUTE FUNCTION audit_change('operator', 'id', 'is_operator');
grant select (id, email) on console_users to svc_auditor;
grant select, update (language, welcomed_at, welcome_tries, welcome_after) on console_users to svc_console;
grant select (id, email, is_operator) on console_users to svc_operator;
grant select (id, email) on console_users to svc_sign_in;

create table memberships (
  account_id uuid not null,
  user_id uuid not null,
  role text not null,
  joined_at timestamp with time zone not null default clock_timestamp(),
  constraint memberships_pkey PRIMARY KEY (account_id, user_id),
  constraint memberships_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_users(id) ON DELETE CASCADE,
  constraint memberships_role_check CHECK (role = ANY (ARRAY['owner'::text, 'member'::text]))
);
CREATE INDEX memberships_user ON memberships USING btree (user_id);
CREATE TRIGGER memberships_audit AFTER INSERT OR DELETE OR UPDATE OF role ON memberships FOR EACH ROW EXECUTE FUNCTION audit_change('member', 'user_id', 'role');
CREATE TRIGGER memberships_locked_during_move BEFORE INSERT OR DELETE OR UPDATE ON memberships FOR EACH ROW EXECUTE FUNCTION refuse_during_move();
grant delete, select, update (role) on memberships to svc_console;

create table invitations (
  id uuid not null,
  account_id uuid not null,
  email email_address not null,
  role text not null,
  language text not null,
  invited_by uuid,
  status text not null default 'pending'::text,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone not null,
  email_due_at timestamp with time zone,
  email_tries integer not null default 0,
  emails boolean not null default true,
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES console_users(id) ON DELETE SET NULL,
  constraint invitations_language_check CHECK (language = ANY (ARRAY['en'::text, 'sw'::text])),
  constraint invitations_role_check CHECK (role = ANY (ARRAY['owner'::text, 'member'::text])),
  constraint invitations_status_check CHECK (status = ANY (ARRAY['pending'::text, 'accepted'::text, 'declined'::text, 'withdrawn'::text, 'expired'::text]))
);
CREATE INDEX invitations_account ON invitations USING btree (account_id, created_at);
CREATE INDEX invitations_due ON invitations USING btree (email_due_at) WHERE (email_due_at IS NOT NULL);
CREATE INDEX invitations_email ON invitations USING btree (email, created_at);
CREATE INDEX invitations_expiry ON invitations USING btree (expires_at) WHERE (status = 'pending'::text);
CREATE INDEX invitations_invited_by ON invitations USING btree (invited_by);
CREATE UNIQUE INDEX invitations_pending ON invitations USING btree (account_id, email) WHERE (status = 'pending'::text);
CREATE TRIGGER invitations_answer_locked_during_move BEFORE UPDATE OF status ON invitations FOR EACH ROW WHEN (new.status <> 'expired'::text) EXECUTE FUNCTION refuse_during_move();
CREATE TRIGGER invitations_audit AFTER INSERT OR UPDATE OF status ON invitations FOR EACH ROW EXECUTE FUNCTION audit_change('invitation', 'id', 'role status');
CREATE TRIGGER invitations_locked_during_move BEFORE INSERT ON invitations FOR EACH ROW EXECUTE FUNCTION refuse_during_move();
grant select (id, account_id, email) on invitations to svc_auditor;
grant select, update (email_due_at, email_tries) on invitations to svc_console;

create table sign_in_codes (
  challenge uuid not null,
  user_id uuid,
  email_hash sha256_hash not null,
  source_hash sha256_hash not null,
  device_hash sha256_hash,
  code_hash sha256_hash not null,
  tries smallint not null default 0,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint sign_in_codes_pkey PRIMARY KEY (challenge),
  constraint sign_in_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_users(id) ON DELETE CASCADE
);
CREATE INDEX sign_in_codes_created ON sign_in_codes USING btree (created_at);
CREATE INDEX sign_in_codes_email ON sign_in_codes USING btree (email_hash, created_at);
CREATE INDEX sign_in_codes_source ON sign_in_codes USING btree (source_hash, created_at);
CREATE TRIGGER sign_in_codes_audit AFTER UPDATE OF tries ON sign_in_codes FOR EACH ROW WHEN (new.tries > old.tries AND new.user_id IS NOT NULL) EXECUTE FUNCTION audit_failed_sign_in();

create table known_places (
  user_id uuid not null,
  place_hash sha256_hash not null,
  last_used_at timestamp with time zone not null,
  constraint known_places_pkey PRIMARY KEY (user_id, place_hash),
  constraint known_places_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_users(id) ON DELETE CASCADE
);

create table console_sessions (
  token_hash sha256_hash not null,
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  account_id uuid,
  verified_by text not null,
  confirmed_at timestamp with time zone,
  client text,
  system text,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null default clock_timestamp(),
  constraint console_sessions_pkey PRIMARY KEY (token_hash),
  constraint console_sessions_id_key UNIQUE (id),
  constraint console_sessions_membership FOREIGN KEY (account_id, user_id) REFERENCES memberships(account_id, user_id) ON DELETE CASCADE,
  constraint console_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_users(id) ON DELETE CASCADE,
  constraint console_sessions_client_check CHECK (length(client) <= 80),
  constraint console_sessions_system_check CHECK (length(system) <= 20),
  constraint console_sessions_verified_by_check CHECK (verified_by = ANY (ARRAY['code'::text, 'passkey'::text]))
);
CREATE INDEX console_sessions_expiry ON console_sessions USING btree (expires_at);
CREATE INDEX console_sessions_membership ON console_sessions USING btree (account_id, user_id);
CREATE INDEX console_sessions_user ON console_sessions USING btree (user_id);
CREATE TRIGGER console_sessions_audit AFTER INSERT ON console_sessions FOR EACH ROW EXECUTE FUNCTION audit_sign_in();

create table passkeys (
  id uuid not null,
  user_id uuid not null,
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  last_used_at timestamp with time zone,
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_users(id) ON DELETE CASCADE,
  constraint passkeys_counter_check CHECK (counter >= 0),
  constraint passkeys_credential_id_check CHECK (length(credential_id) >= 1 AND length(credential_id) <= 1400),
  constraint passkeys_name_check CHECK (length(name) >= 1 AND length(name) <= 60)
);
CREATE INDEX passkeys_user ON passkeys USING btree (user_id);
CREATE TRIGGER passkeys_audit AFTER INSERT OR DELETE ON passkeys FOR EACH ROW EXECUTE FUNCTION audit_change('passkey', 'user_id', 'id');
CREATE TRIGGER passkeys_notice AFTER INSERT OR DELETE ON passkeys FOR EACH ROW EXECUTE FUNCTION notify_passkey_change();
grant select on passkeys to svc_console;
grant select, update (counter, last_used_at) on passkeys to svc_sign_in;

create table passkey_challenges (
  challenge_hash sha256_hash not null,
  user_id uuid,
  expires_at timestamp with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (challenge_hash),
  constraint passkey_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_users(id) ON DELETE CASCADE
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges USING btree (expires_at);
grant delete, insert, select on passkey_challenges to svc_sign_in;

create table operator_enrolments (
  id uuid not null,
  user_id uuid not null,
  code_hash sha256_hash not null,
  tries smallint not null default 0,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint operator_enrolments_pkey PRIMARY KEY (id),
  constraint operator_enrolments_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_users(id) ON DELETE CASCADE
);
CREATE INDEX operator_enrolments_user ON operator_enrolments USING btree (user_id, created_at);

create table operator_grants (
  id uuid not null,
  operator_id uuid not null,
  account_id uuid not null,
  ms bigint not null,
  granted_at timestamp with time zone not null default clock_timestamp(),
  constraint operator_grants_pkey PRIMARY KEY (id),
  constraint operator_grants_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint operator_grants_ms_check CHECK (ms > 0)
);
CREATE INDEX operator_grants_account ON operator_grants USING btree (account_id);
CREATE INDEX operator_grants_day ON operator_grants USING btree (operator_id, granted_at);

create table credit_requests (
  id uuid not null,
  account_id uuid not null,
  requested_by uuid,
  requested_at timestamp with time zone not null default clock_timestamp(),
  requested_ms bigint not null,
  message text not null,
  status text not null default 'open'::text,
  decided_at timestamp with time zone,
  granted_ms bigint,
  reply text,
  constraint credit_requests_pkey PRIMARY KEY (id),
  constraint credit_requests_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint credit_requests_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES console_users(id) ON DELETE SET NULL,
  constraint credit_requests_decided_has_reply CHECK ((status = 'open'::text) = (reply IS NULL)),
  constraint credit_requests_decided_has_time CHECK ((status = 'open'::text) = (decided_at IS NULL)),
  constraint credit_requests_granted_has_amount CHECK ((status = 'granted'::text) = (granted_ms IS NOT NULL)),
  constraint credit_requests_message_check CHECK (length(message) <= 500),
  constraint credit_requests_reply_check CHECK (length(reply) >= 1 AND length(reply) <= 500),
  constraint credit_requests_requested_ms_check CHECK (requested_ms >= 60000 AND requested_ms <= 36000000),
  constraint credit_requests_status_check CHECK (status = ANY (ARRAY['open'::text, 'granted'::text, 'declined'::text]))
);
CREATE INDEX credit_requests_account ON credit_requests USING btree (account_id, requested_at);
CREATE UNIQUE INDEX credit_requests_one_open ON credit_requests USING btree (account_id) WHERE (status = 'open'::text);
CREATE INDEX credit_requests_status ON credit_requests USING btree (status, requested_at, id);
grant select on credit_requests to svc_console;
grant select on credit_requests to svc_operator;

create table credit_request_notices (
  id uuid not null default gen_random_uuid(),
  request_id uuid not null,
  recipient uuid not null,
  kind text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  email_due_at timestamp with time zone not null default clock_timestamp(),
  email_tries integer not null default 0,
  constraint credit_request_notices_pkey PRIMARY KEY (id),
  constraint credit_request_notices_recipient_fkey FOREIGN KEY (recipient) REFERENCES console_users(id) ON DELETE CASCADE,
  constraint credit_request_notices_request_id_fkey FOREIGN KEY (request_id) REFERENCES credit_requests(id) ON DELETE CASCADE,
  constraint credit_request_notices_kind_check CHECK (kind = ANY (ARRAY['asked'::text, 'granted'::text, 'declined'::text]))
);
CREATE INDEX credit_request_notices_due ON credit_request_notices USING btree (email_due_at);
CREATE INDEX credit_request_notices_recipient ON credit_request_notices USING btree (recipient);
CREATE INDEX credit_request_notices_request ON credit_request_notices USING btree (request_id);
grant delete, select, update (email_due_at, email_tries) on credit_request_notices to svc_console;

create table credit_notices (
  id uuid not null default gen_random_uuid(),
  account_id uuid not null,
  recipient uuid not null,
  level smallint not null,
  email_due_at timestamp with time zone not null default clock_timestamp(),
  email_tries integer not null default 0,
  constraint credit_notices_pkey PRIMARY KEY (id),
  constraint credit_notices_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint credit_notices_recipient_fkey FOREIGN KEY (recipient) REFERENCES console_users(id) ON DELETE CASCADE
);
CREATE INDEX credit_notices_account ON credit_notices USING btree (account_id);
CREATE INDEX credit_notices_due ON credit_notices USING btree (email_due_at);
CREATE INDEX credit_notices_recipient ON credit_notices USING btree (recipient);
grant delete, select, update (email_due_at, email_tries) on credit_notices to svc_console;

create table security_notices (
  id uuid not null default gen_random_uuid(),
  recipient uuid not null,
  about uuid not null,
  kind text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  email_due_at timestamp with time zone not null default clock_timestamp(),
  email_tries integer not null default 0,
  constraint security_notices_pkey PRIMARY KEY (id),
  constraint security_notices_about_fkey FOREIGN KEY (about) REFERENCES console_users(id) ON DELETE CASCADE,
  constraint security_notices_recipient_fkey FOREIGN KEY (recipient) REFERENCES console_users(id) ON DELETE CASCADE,
  constraint security_notices_kind_check CHECK (kind = ANY (ARRAY['passkey_added'::text, 'passkey_removed'::text, 'operator_added'::text, 'operator_removed'::text, 'enrolment_created'::text]))
);
CREATE INDEX security_notices_about ON security_notices USING btree (about);
CREATE INDEX security_notices_due ON security_notices USING btree (email_due_at);
CREATE INDEX security_notices_recipient ON security_notices USING btree (recipient);
grant delete, select, update (email_due_at, email_tries) on security_notices to svc_console;

create table demo_claims (
  day date not null,
  network_hash sha256_hash not null,
  block_hash sha256_hash,
  constraint demo_claims_pkey PRIMARY KEY (day, network_hash)
);

create table cell (
  only_row boolean not null default true,
  id text not null,
  constraint cell_pkey PRIMARY KEY (only_row),
  constraint cell_id_check CHECK (id ~ '^[0-9a-z]{2}$'::text),
  constraint cell_only_row_check CHECK (only_row)
);
grant select on cell to svc_api;
grant select on cell to svc_auditor;
grant select on cell to svc_console;

create table cell_peppers (
  pepper_id smallint not null,
  fingerprint bytea not null,
  constraint cell_peppers_pkey PRIMARY KEY (pepper_id),
  constraint cell_peppers_fingerprint_check CHECK (length(fingerprint) = 8),
  constraint cell_peppers_pepper_id_check CHECK (pepper_id >= 0 AND pepper_id <= 255)
);
grant select on cell_peppers to svc_api;
grant select on cell_peppers to svc_auditor;

create table cell_links (
  cell text not null,
  key bytea not null,
  linked_at timestamp with time zone not null default clock_timestamp(),
  constraint cell_links_pkey PRIMARY KEY (cell),
  constraint cell_links_cell_check CHECK (cell ~ '^[0-9a-z]{2}$'::text),
  constraint cell_links_key_check CHECK (length(key) = 32)
);

create table account_imports (
  account_id uuid not null,
  move_id uuid not null,
  from_cell text not null,
  chain bytea not null,
  content jsonb not null,
  constraint account_imports_pkey PRIMARY KEY (account_id)
);

create table account_arrivals (
  move_id uuid not null,
  account_id uuid not null,
  from_cell text not null,
  arrived_at timestamp with time zone not null default clock_timestamp(),
  constraint account_arrivals_pkey PRIMARY KEY (move_id),
  constraint account_arrivals_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);
CREATE INDEX account_arrivals_account ON account_arrivals USING btree (account_id);

create table audit_log (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default clock_timestamp(),
  account_id uuid,
  login text not null,
  actor_id uuid,
  action text not null,
  target text,
  before jsonb,
  after jsonb,
  request_id text,
  imported_from text,
  imported_by text,
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint audit_log_import_has_login CHECK ((imported_from IS NULL) = (imported_by IS NULL))
);
CREATE INDEX audit_log_account ON audit_log USING btree (account_id, id);
CREATE INDEX audit_log_target ON audit_log USING btree (target, action);
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change('the audit log only grows');
CREATE TRIGGER audit_log_not_truncated BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the audit log only grows');
grant select on audit_log to svc_auditor;
grant select on audit_log to svc_console;

create table audit_sources (
  audit_id bigint not null,
  account_id uuid,
  source text not null,
  at timestamp with time zone not null default clock_timestamp(),
  constraint audit_sources_pkey PRIMARY KEY (audit_id),
  constraint audit_sources_audit_id_fkey FOREIGN KEY (audit_id) REFERENCES audit_log(id)
);
CREATE INDEX audit_sources_account ON audit_sources USING btree (account_id);
CREATE INDEX audit_sources_at ON audit_sources USING btree (at);
grant select on audit_sources to svc_auditor;
grant select on audit_sources to svc_console;

create table session_details (
  account_id uuid not null,
  session_id uuid not null,
  request_id uuid not null,
  origin text,
  client text,
  ready_ms integer,
  first_words_ms integer,
  first_final_ms integer,
  last_final_ms integer,
  ended_ms integer not null,
  finals integer not null,
  close_code integer not null,
  close_reason text not null,
  delta_lag_p50_ms integer,
  delta_lag_p95_ms integer,
  gaps integer not null,
  longest_gap_ms integer not null,
  hints text[] not null,
  audio_hint text,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  constraint session_details_pkey PRIMARY KEY (account_id, session_id),
  constraint session_details_audio_hint_check CHECK (length(audio_hint) <= 300),
  constraint session_details_client_check CHECK (length(client) <= 80),
  constraint session_details_close_reason_check CHECK (length(close_reason) <= 100),
  constraint session_details_origin_check CHECK (length(origin) <= 200)
);
CREATE INDEX session_details_age ON session_details USING btree (recorded_at);
CREATE INDEX session_details_request ON session_details USING btree (account_id, request_id);
grant select on session_details to svc_console;
grant select (account_id, session_id, client, close_code, close_reason) on session_details to svc_operator;

create table api_calls (
  account_id uuid not null,
  at timestamp(3) with time zone not null,
  request_id uuid not null,
  method text not null,
  route text not null,
  status smallint not null,
  code text,
  detail text,
  key_id text,
  session_id uuid,
  took_ms integer not null,
  more integer not null default 0,
  constraint api_calls_code_check CHECK (length(code) <= 60),
  constraint api_calls_detail_check CHECK (length(detail) <= 300),
  constraint api_calls_key_id_check CHECK (length(key_id) <= 40),
  constraint api_calls_method_check CHECK (length(method) <= 10),
  constraint api_calls_route_check CHECK (length(route) <= 100)
) partition by RANGE (at);
CREATE INDEX api_calls_at ON ONLY api_calls USING btree (account_id, at, request_id);
CREATE INDEX api_calls_refused ON ONLY api_calls USING btree (account_id, at, request_id) WHERE (status >= 400);
CREATE INDEX api_calls_request ON ONLY api_calls USING btree (account_id, request_id);
CREATE INDEX api_calls_session ON ONLY api_calls USING btree (account_id, session_id) WHERE (status >= 400);
grant select on api_calls to svc_console;

create table claims_given_back (
  account_id uuid not null,
  session_id uuid not null,
  upgrade_id uuid not null,
  given_back_at timestamp with time zone not null,
  constraint claims_given_back_pkey PRIMARY KEY (account_id, session_id, upgrade_id)
);
CREATE TRIGGER claims_given_back_append_only BEFORE DELETE OR UPDATE ON claims_given_back FOR EACH ROW EXECUTE FUNCTION refuse_change('a claim is given back once');
CREATE TRIGGER claims_given_back_not_truncated BEFORE TRUNCATE ON claims_given_back FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a claim is given back once');
grant select on claims_given_back to svc_auditor;

create table lost_audio (
  account_id uuid not null,
  session_id uuid not null,
  lengths bigint[] not null,
  digests text[] not null,
  lost_at timestamp with time zone not null,
  constraint lost_audio_pkey PRIMARY KEY (account_id, session_id),
  constraint lost_audio_check CHECK (cardinality(lengths) >= 1 AND cardinality(lengths) <= 16 AND cardinality(digests) = cardinality(lengths))
);
CREATE INDEX lost_audio_age ON lost_audio USING btree (lost_at);

create table session_takeovers (
  session_id uuid not null,
  account_id uuid not null,
  proof text not null,
  requested_at timestamp with time zone not null default clock_timestamp(),
  constraint session_takeovers_pkey PRIMARY KEY (session_id),
  constraint session_takeovers_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint session_takeovers_proof_check CHECK (length(proof) >= 1 AND length(proof) <= 32)
);
CREATE INDEX session_takeovers_age ON session_takeovers USING btree (requested_at);
grant select (session_id, account_id, requested_at) on session_takeovers to svc_auditor;
grant select on session_takeovers to svc_node;

create table status_days (
  day date not null,
  component text not null,
  from_minute smallint not null default 0,
  available bit(1440) not null default (repeat('0'::text, 1440))::bit(1440),
  constraint status_days_pkey PRIMARY KEY (day, component),
  constraint status_days_component_check CHECK (length(component) >= 1 AND length(component) <= 100),
  constraint status_days_from_minute_check CHECK (from_minute >= 0 AND from_minute <= 1439)
);

create table incidents (
  id integer not null generated always as identity,
  text reason not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint incidents_pkey PRIMARY KEY (id),
  constraint incidents_check CHECK (ended_at >= started_at)
);
CREATE INDEX incidents_by_start ON incidents USING btree (started_at DESC);
CREATE TRIGGER incidents_audit AFTER INSERT OR DELETE OR UPDATE OF text, started_at, ended_at ON incidents FOR EACH ROW EXECUTE FUNCTION audit_change('incident', 'id', 'text started_at ended_at');
grant select on incidents to svc_api;
grant select on incidents to svc_console;
grant delete, insert (text, started_at, ended_at), select, update (text, started_at, ended_at, updated_at) on incidents to svc_operator;

-- Views

create view entry as
 SELECT t.account_id,
    t.seq,
    e.bucket,
    e.amount_ms
   FROM txn t,
    LATERAL ( VALUES ('granted'::text,t.granted_ms), ('available'::text,t.available_ms), ('reserved'::text,t.reserved_ms), ('consumed'::text,t.consumed_ms)) e(bucket, amount_ms)
  WHERE e.amount_ms <> 0;

-- Functions, and the roles that may call them

-- accept_invitation(p_user uuid, p_id uuid) returns uuid security definer to svc_console
-- accept_ledger_history(p_reason text) returns integer security definer to svc_operator
-- add_passkey(p_token text, p_code_hash bytea, p_id uuid, p_credential_id text, p_public_key bytea, p_counter bigint, p_transports text[], p_name text, p_limit integer) returns text security definer to svc_sign_in
-- adjust_credit(p_account uuid, p_ms bigint, p_reason text, p_actor text, p_request uuid, OUT outcome text, OUT replayed boolean, OUT seq bigint, OUT available_ms bigint) returns record security definer to svc_operator
-- approve_as_operator(p_token text, p_entry uuid, p_account uuid, p_ms bigint, p_reason text) returns text security definer to svc_console
-- approve_waitlist(p_id uuid, p_account uuid, p_actor text) returns uuid security definer to svc_operator
-- arrival_receipt(p_account uuid, p_move uuid) returns text security definer to svc_mover
-- audit_change() returns trigger security definer
-- audit_credit() returns trigger security definer
-- audit_failed_sign_in() returns trigger security definer
-- audit_sign_in() returns trigger security definer
-- begin_import(p_move uuid, p_from text, p_content text) returns void security definer to svc_mover
-- cancel_move(p_account uuid) returns boolean security definer to svc_mover
-- cell_link_fingerprint(p_cell text) returns text security definer to svc_mover
-- chain_row(p_chain bytea, p_part text, p_content text) returns bytea
-- charged_before(p_session sessions, p_lost uuid, p_replayed bigint, p_samples bigint) returns bigint
-- charged_since(p_account uuid, p_at timestamp with time zone) returns bigint security definer to svc_console
-- check_balance() returns trigger security definer
-- check_credit_levels(p_batch integer) returns integer security definer to svc_console
-- check_late_settlement() returns trigger security definer
-- check_not_copying() returns trigger security definer
-- check_reserved_credit() returns trigger security definer
-- check_txn() returns trigger security definer
-- claim_demo(p_network bytea, p_per_day integer, p_block bytea DEFAULT NULL::bytea) returns text security definer to svc_console
-- claim_session(p_account uuid, p_session uuid, p_upgrade uuid, p_node text, p_epoch bigint, OUT outcome text, OUT model text, OUT reserved_ms integer, OUT allowed_origins text[]) returns record security definer to svc_node
-- close_console_session(p_token text) returns void security definer to svc_console
-- close_console_sessions(p_token text) returns integer security definer to svc_console
-- close_credit_request(p_request uuid, p_ms bigint, p_reply text) returns void
-- close_other_console_session(p_token text, p_id uuid) returns boolean security definer to svc_console
-- close_session(p_account uuid, p_session uuid, p_status text, p_samples bigint, p_node text, p_epoch bigint, p_upgrade uuid, p_lost uuid DEFAULT NULL::uuid, p_replayed bigint DEFAULT 0, p_lengths bigint[] DEFAULT NULL::bigint[], p_digests text[] DEFAULT NULL::text[], p_told boolean DEFAULT true) returns text security definer to svc_node
-- confirm_console_session(p_token text, p_user uuid) returns boolean security definer to svc_sign_in
-- confirmed_operator(p_token text, OUT o_id uuid, OUT o_email text, OUT o_problem text) returns record
-- console_idle_limit(p_is_operator boolean) returns interval
-- continued_before(p_account uuid, p_session uuid) returns integer
-- create_api_key(p_account uuid, p_id text, p_hmac bytea, p_name text, p_scopes text[], p_expires_at timestamp with time zone, p_pepper smallint) returns boolean security definer to svc_console, svc_operator
-- create_calls_day(p_day date) returns void security definer
-- create_enrolment(p_email text, p_id uuid, p_code_hash bytea) returns text security definer to svc_operator
-- create_sign_in_code(p_email text, p_challenge uuid, p_code_hash bytea, p_lifetime interval) returns text security definer to svc_operator
-- decide_credit_request(p_request uuid, p_ms bigint, p_reply text, p_actor text) returns bigint security definer to svc_operator
-- decide_credit_request_as_operator(p_token text, p_request uuid, p_ms bigint, p_reply text) returns text security definer to svc_console
-- decline_as_operator(p_token text, p_entry uuid, p_reason text) returns text security definer to svc_console
-- decline_invitation(p_user uuid, p_id uuid) returns boolean security definer to svc_console
-- decline_waitlist(p_id uuid, p_actor text, p_reason text) returns boolean security definer to svc_operator
-- demo_day() returns date
-- demo_refusal(p_network bytea, p_per_day integer, p_block bytea) returns text
-- demo_state(p_network bytea, p_per_day integer, p_block bytea, p_account uuid, p_ms bigint) returns text security definer to svc_console
-- depart_account(p_account uuid, p_move uuid, p_receipt text) returns void security definer to svc_mover
-- departure_receipt(p_account uuid, p_move uuid) returns text security definer to svc_mover
-- digest_account(p_account uuid) returns TABLE(part text, counted bigint, digest text) security definer to svc_mover
-- end_session(p_session sessions, p_status session_status, p_samples bigint, p_at timestamp with time zone) returns void
-- enrolment_problem(p_user uuid, p_code_hash bytea) returns text
-- ensure_person(p_email text, p_language text) returns uuid
-- erase_account(p_account uuid) returns boolean security definer to svc_console, svc_operator
-- erase_waitlist_entry(p_id uuid) returns text security definer to svc_operator
-- exceeds_grant_limit(p_operator uuid, p_ms bigint) returns boolean
-- expire_invitations() returns void security definer to svc_console
-- expire_reservations(p_batch integer) returns integer security definer to svc_sweeper
-- export_account(p_account uuid) returns TABLE(part text, content jsonb) security definer
-- export_signed(p_account uuid, p_move uuid) returns TABLE(part text, content text) security definer to svc_mover
-- fail_orphans(p_batch integer, OUT failed integer, OUT quiet_ms integer) returns record security definer to svc_sweeper
-- find_console_session(p_token text) returns TABLE(user_id uuid, email text, language text, is_operator boolean, verified_by text, account_id uuid, role text, account_name text, account_active boolean) security definer to svc_console
-- find_lost_audio(p_account uuid, p_sessions uuid[]) returns TABLE(session_id uuid, is_over boolean, lengths text[], digests text[]) security definer to svc_node
-- finish_import(p_account uuid, p_move uuid, p_signature text) returns void security definer to svc_mover
-- first_reservation_at(p_account uuid, p_at timestamp with time zone) returns bigint security definer to svc_console
-- forget_audit_sources() returns void security definer to svc_console
-- forget_calls() returns integer security definer to svc_console
-- forget_demo_claims() returns integer security definer to svc_console
-- forget_idempotency(p_batch integer) returns integer security definer to svc_sweeper
-- forget_person(p_user uuid) returns boolean security definer to svc_console
-- forget_session_details(p_batch integer) returns integer security definer to svc_console
-- freeze_account(p_account uuid, p_to text) returns uuid security definer to svc_mover
-- give_back_session(p_account uuid, p_session uuid, p_upgrade uuid) returns text security definer to svc_node
-- grant_as_operator(p_token text, p_account uuid, p_ms bigint, p_reason text, p_request uuid) returns text security definer to svc_console
-- grant_credit(p_account uuid, p_ms bigint, p_reason text, p_actor text, p_request uuid, OUT outcome text, OUT replayed boolean, OUT seq bigint, OUT available_ms bigint) returns record security definer to svc_operator
-- grant_within_limit(p_operator uuid, p_actor text, p_account uuid, p_ms bigint, p_reason text, p_request uuid) returns text
-- hash_console_token(p_token text) returns bytea
-- hmac_sha256(p_key bytea, p_message bytea) returns bytea
-- import_audit(p_entry jsonb, p_from text) returns void
-- import_rows(p_account uuid, p_move uuid, p_part text, p_contents text[]) returns void security definer to svc_mover
-- invite_member(p_id uuid, p_account uuid, p_invited_by uuid, p_email text, p_role text, p_language text) returns text security definer to svc_console
-- is_copying(p_account uuid) returns boolean
-- is_given_back(p_account uuid, p_session uuid, p_upgrade uuid) returns boolean
-- is_late_settlement(p_old sessions, p_new sessions) returns boolean
-- is_operable(p_account uuid) returns boolean
-- is_orphan(p_session sessions, p_node nodes, p_expired_before timestamp with time zone) returns boolean
-- is_paid(p_session sessions) returns boolean
-- keep_lost_audio(p_session sessions, p_lengths bigint[], p_digests text[]) returns void
-- late_close_window() returns interval
-- lease_length() returns interval to public
-- link_cell(p_cell text, p_key bytea) returns void
-- list_console_sessions(p_token text) returns TABLE(id uuid, client text, system text, verified_by text, created_at timestamp with time zone, last_seen_at timestamp with time zone, is_current boolean) security definer to svc_console
-- live_console_session(p_token text) returns SETOF console_sessions
-- live_session_expiry(p_account uuid, p_session uuid) returns timestamp with time zone security definer to svc_api, svc_node
-- lock_credit_request(p_request uuid, p_reply text) returns uuid
-- lock_keys(p_account uuid) returns void security definer
-- log_command(p_command text) returns void security definer to svc_auditor
-- mark_ledger(p_process uuid, p_node text, p_position bigint, p_account uuid, p_session uuid, p_is_over boolean, p_upgrade uuid, OUT outcome text, OUT marked bigint) returns record security definer to svc_api, svc_console, svc_node, svc_sign_in, svc_sweeper
-- move_statement(p_what text, p_from text, p_to text, p_account uuid, p_move uuid) returns text
-- notify_account_keys_changed() returns trigger security definer
-- notify_key_changed() returns trigger security definer
-- notify_passkey_change() returns trigger security definer
-- notify_security(p_kind text, p_about uuid, p_operators boolean) returns void
-- open_account(p_account uuid, p_move uuid, p_receipt text) returns void security definer to svc_mover
-- open_console_session(p_token_hash bytea, p_user uuid, p_verified_by text, p_client text, p_system text) returns void security definer to svc_sign_in
-- operator_changing(p_account uuid, p_token text, p_reason text, OUT o_id uuid, OUT o_email text, OUT o_problem text) returns record
-- passkey_change_problem(p_token text, p_code_hash bytea) returns text security definer to svc_console, svc_sign_in
-- post(p_account uuid, p_kind txn_kind, p_session uuid, p_at timestamp with time zone, p_available bigint, p_reserved bigint, p_consumed bigint, p_request uuid DEFAULT NULL::uuid, p_actor text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, OUT o_seq bigint, OUT o_available_ms bigint) returns record
-- post_credit(p_account uuid, p_kind txn_kind, p_ms bigint, p_reason text, p_actor text, p_request uuid, OUT outcome text, OUT replayed boolean, OUT seq bigint, OUT available_ms bigint) returns record
-- record_audit(p_findings jsonb, p_is_complete boolean) returns void security definer to svc_auditor
-- record_calls(p_calls json) returns integer security definer to svc_api, svc_node
-- record_status(p_components text[], p_available text[]) returns void security definer to svc_api
-- record_streams(p_node text, p_streams jsonb) returns integer security definer to svc_node
-- refuse_change() returns trigger
-- refuse_during_move() returns trigger security definer
-- register_node(p_id text, p_url text, p_models text[], p_capacity integer, p_version text) returns bigint security definer to svc_node
-- rehash_api_key(p_id text, p_old_hmac bytea, p_hmac bytea, p_pepper smallint) returns boolean security definer to svc_api
-- release_demo(p_network bytea) returns void security definer to svc_console
-- remember_places(p_user uuid, p_place_hashes bytea[]) returns void security definer to svc_sign_in
-- remove_passkey(p_token text, p_id uuid) returns text security definer to svc_console
-- rename_api_key(p_account uuid, p_id text, p_name text) returns boolean security definer to svc_console
-- renew_node(p_id text, p_epoch bigint, p_active integer, p_capacity integer, p_draining boolean) returns boolean security definer to svc_node
-- report_live_audio(p_node text, p_epoch bigint, p_session_ids uuid[], p_samples bigint[]) returns void security definer to svc_node
-- report_peppers(p_ids smallint[], p_fingerprints bytea[]) returns void security definer to svc_api
-- request_credit(p_id uuid, p_account uuid, p_user uuid, p_ms bigint, p_message text) returns text security definer to svc_console
-- request_session_end(p_session uuid) returns text security definer to svc_operator
-- request_sign_in_code(p_challenge uuid, p_user uuid, p_email_hash bytea, p_source_hashes bytea[], p_device_hashes bytea[], p_code_hash bytea, p_lifetime interval) returns integer security definer to svc_sign_in
-- request_takeover(p_account uuid, p_session uuid, p_proof text) returns boolean security definer to svc_api, svc_node
-- require_signature(p_cell text, p_signature text, p_statement text) returns void
-- reserve_session(p_account uuid, p_session uuid, p_retry boolean, p_key text, p_model text, p_requested_ms integer, p_key_hash bytea, p_request_hash bytea, p_node text, p_url text, OUT outcome text, OUT replayed boolean, OUT session_id uuid, OUT websocket_url text, OUT reserved_ms integer, OUT remaining_ms bigint, OUT created_at timestamp with time zone, OUT expires_at timestamp with time zone, OUT blocker text, OUT retry_after_ms integer) returns record security definer to svc_api
-- reset_passkeys(p_email text) returns integer security definer to svc_operator
-- restart_credit_levels() returns trigger security definer
-- retire_node(p_id text, p_epoch bigint) returns boolean security definer to svc_node
-- revoke_api_key(p_account uuid, p_id text) returns boolean security definer to svc_console, svc_operator
-- roll_up_usage_by_key(p_account uuid, p_batch integer) returns boolean security definer to svc_console
-- rotate_api_key(p_account uuid, p_old text, p_id text, p_hmac bytea, p_expires_at timestamp with time zone, p_pepper smallint) returns text security definer to svc_console
-- seal_account(p_account uuid, p_move uuid) returns integer security definer to svc_mover
-- set_account_status_as_operator(p_token text, p_account uuid, p_status account_status, p_reason text) returns text security definer to svc_console
-- set_allowed_origins(p_account uuid, p_origins text[]) returns void security definer to svc_console, svc_operator
-- set_cell(p_id text) returns text security definer
-- set_concurrency(p_account uuid, p_limit integer) returns boolean security definer to svc_operator
-- set_concurrency_as_operator(p_token text, p_account uuid, p_limit integer, p_reason text) returns text security definer to svc_console
-- set_key_limit(p_account uuid, p_limit integer) returns boolean security definer to svc_operator
-- set_operator(p_email text, p_is_operator boolean) returns boolean security definer to svc_operator
-- settle_late(p_session sessions, p_samples bigint, p_available bigint, p_at timestamp with time zone) returns void
-- sign_move(p_cell text, p_statement text) returns text
-- status_days_kept() returns integer
-- status_history() returns TABLE(component text, day date, minutes integer, down_minutes integer) security definer to svc_api, svc_operator
-- status_recorded(p_component text) returns boolean security definer to svc_operator
-- switch_console_account(p_token text, p_account uuid) returns void security definer to svc_console
-- touch_api_keys(p_ids text[]) returns integer security definer to svc_api
-- unpaid_ms(p_session sessions, p_samples bigint) returns bigint
-- use_sign_in_code(p_challenge uuid, p_code_hashes bytea[], p_tries integer) returns uuid security definer to svc_sign_in
-- wait_for_fewer(p_times timestamp with time zone[], p_limit integer, p_now timestamp with time zone) returns interval
-- withdraw_invitation(p_account uuid, p_id uuid) returns boolean security definer to svc_console
-- write_audit(p_account uuid, p_action text, p_target text, p_before jsonb, p_after jsonb, p_actor uuid DEFAULT NULL::uuid) returns void
