import { Type, type Static } from 'typebox';
import { AUDIT_KINDS, CONSOLE_LIMITS, FAILURE_HOURS, WAITLIST_STATUSES } from './constants.ts';
import { MODEL_IDS } from '../constants.ts';
import { OUTCOMES } from './outcome.ts';
import { SessionReport } from './sessions.ts';
import { Closed, Count, DateTime, FilterDay, Uuid } from '../schema.ts';
import { LINE_PATTERN, NAME_PATTERN } from '../text-rules.ts';

/** Messages of the operators' pages, and of requests for credit. */

const NullableText = Type.Union([Type.String(), Type.Null()]);
const NullableCount = Type.Union([Count, Type.Null()]);
const NullableTime = Type.Union([DateTime, Type.Null()]);
const Model = Type.Enum([...MODEL_IDS]);
/** Where the next page begins, or null. */
const Next = Type.Union([Uuid, Type.Null()]);

/** A reason that must be given, and one that can be left out. */
const Reason = Type.String({ maxLength: CONSOLE_LIMITS.reasonLength, pattern: NAME_PATTERN });
const OptionalReason = Type.String({
  maxLength: CONSOLE_LIMITS.reasonLength,
  pattern: LINE_PATTERN,
});
const GrantMinutes = Type.Integer({ minimum: 1, maximum: CONSOLE_LIMITS.approvalMinutes });
const EntryIds = Type.Array(Uuid, {
  minItems: 1,
  maxItems: CONSOLE_LIMITS.operatorRowsPerPage,
  uniqueItems: true,
});

export const WaitlistQuery = Closed(
  { status: Type.Optional(Type.Enum([...WAITLIST_STATUSES])), after: Type.Optional(Uuid) },
  'WaitlistQuery',
);
export type WaitlistQuery = Static<typeof WaitlistQuery>;
export const WaitlistEntry = Closed(
  {
    id: Uuid,
    email: Type.String(),
    use_case: Type.String(),
    status: Type.Enum([...WAITLIST_STATUSES]),
    joined_at: DateTime,
    account_id: Type.Union([Uuid, Type.Null()]),
    decided_at: NullableTime,
    decided_by: NullableText,
    reason: NullableText,
    granted_ms: NullableCount,
  },
  'WaitlistEntry',
);
export type WaitlistEntry = Static<typeof WaitlistEntry>;
export const WaitlistPage = Closed({ data: Type.Array(WaitlistEntry), next: Next }, 'WaitlistPage');
export type WaitlistPage = Static<typeof WaitlistPage>;

export const Approve = Closed(
  { ids: EntryIds, credit_minutes: GrantMinutes, reason: OptionalReason },
  'Approve',
);
export type Approve = Static<typeof Approve>;
export const Decline = Closed({ ids: EntryIds, reason: OptionalReason }, 'Decline');
export type Decline = Static<typeof Decline>;
/** What became of each entry: `done`, or the code of the error. */
export const Decisions = Closed(
  { data: Type.Array(Closed({ id: Uuid, outcome: Type.String() }, 'Decision')) },
  'Decisions',
);
export type Decisions = Static<typeof Decisions>;

export const OperatorAccountQuery = Closed(
  {
    search: Type.Optional(Type.String({ maxLength: 200, pattern: LINE_PATTERN })),
    after: Type.Optional(Uuid),
  },
  'OperatorAccountQuery',
);
export type OperatorAccountQuery = Static<typeof OperatorAccountQuery>;
export const OperatorAccount = Closed(
  {
    id: Uuid,
    name: Type.String(),
    email: NullableText,
    status: Type.Enum(['active', 'suspended']),
    /** The state and target of a move to another cell. Null: the account is served here. */
    move: NullableText,
    created_at: DateTime,
    concurrency_limit: Count,
    available_ms: Count,
    reserved_ms: Count,
    consumed_ms: Count,
    granted_ms: Count,
    /** Audio charged within 24 hours and within 7 days. */
    day_ms: Count,
    week_ms: Count,
    /** Sessions that failed within 24 hours. */
    failed: Count,
    /** Sessions that are reserved or active. */
    live: Count,
  },
  'OperatorAccount',
);
export type OperatorAccount = Static<typeof OperatorAccount>;
export const OperatorAccountPage = Closed(
  { data: Type.Array(OperatorAccount), next: Next },
  'OperatorAccountPage',
);
export type OperatorAccountPage = Static<typeof OperatorAccountPage>;

export const OperatorSession = Closed(
  {
    id: Uuid,
    model: Model,
    outcome: Type.Enum([...OUTCOMES]),
    created_at: DateTime,
    audio_ms: Count,
    billable_ms: Count,
    /** Why it ended early, or how it was closed. */
    cause: NullableText,
  },
  'OperatorSession',
);
export type OperatorSession = Static<typeof OperatorSession>;
export const OperatorAccountReport = Closed(
  { account: OperatorAccount, sessions: Type.Array(OperatorSession), now: DateTime },
  'OperatorAccountReport',
);
export type OperatorAccountReport = Static<typeof OperatorAccountReport>;

/** A session as its customer sees it, with the account. */
export const OperatorSessionReport = Closed(
  { ...SessionReport.properties, account_id: Uuid, account_name: Type.String() },
  'OperatorSessionReport',
);
export type OperatorSessionReport = Static<typeof OperatorSessionReport>;

export const ChangeStatus = Closed({ reason: Reason }, 'ChangeStatus');
export type ChangeStatus = Static<typeof ChangeStatus>;
export const SetConcurrency = Closed(
  { limit: Type.Integer({ minimum: 1, maximum: CONSOLE_LIMITS.concurrencyMax }), reason: Reason },
  'SetConcurrency',
);
export type SetConcurrency = Static<typeof SetConcurrency>;
export const GrantCredit = Closed(
  {
    /** Of the browser, so that a repeated request grants once. */
    id: Uuid,
    minutes: GrantMinutes,
    reason: Reason,
  },
  'GrantCredit',
);
export type GrantCredit = Static<typeof GrantCredit>;

export const LiveQuery = Closed(
  {
    node: Type.Optional(Type.String({ maxLength: 200, pattern: LINE_PATTERN })),
    account: Type.Optional(Uuid),
  },
  'LiveQuery',
);
export type LiveQuery = Static<typeof LiveQuery>;
export const LiveStream = Closed(
  {
    id: Uuid,
    account_id: Uuid,
    account_name: Type.String(),
    node_id: Type.String(),
    model: Model,
    status: Type.Enum(['reserved', 'active']),
    created_at: DateTime,
    claimed_at: NullableTime,
    reserved_ms: Count,
    audio_ms: Count,
  },
  'LiveStream',
);
export type LiveStream = Static<typeof LiveStream>;
const LiveCount = Closed({ id: Type.String(), name: Type.String(), streams: Count }, 'LiveCount');
export const LivePage = Closed(
  {
    /** The oldest, up to a page of them. */
    data: Type.Array(LiveStream),
    /** The largest, up to a page of them. */
    by_node: Type.Array(LiveCount),
    by_account: Type.Array(LiveCount),
    /** Of all nodes and accounts. */
    total: Count,
    now: DateTime,
  },
  'LivePage',
);
export type LivePage = Static<typeof LivePage>;

export const OperatorNode = Closed(
  {
    id: Type.String(),
    state: Type.Enum(['live', 'draining', 'retired', 'expired']),
    active: Count,
    capacity: Count,
    models: Type.Array(Type.String()),
    public_url: Type.String(),
    /** Null: registered by a version that didn't report it. */
    version: NullableText,
    started_at: DateTime,
    lease_until: DateTime,
    /** The delay of text at the 95th percentile in streams that ended within 15 minutes. Null: there were none. */
    lag_ms: NullableCount,
  },
  'OperatorNode',
);
export type OperatorNode = Static<typeof OperatorNode>;
export const NodePage = Closed({ data: Type.Array(OperatorNode), now: DateTime }, 'NodePage');
export type NodePage = Static<typeof NodePage>;

export const FailureQuery = Closed(
  {
    hours: Type.Optional(Type.Enum([...FAILURE_HOURS])),
    cause: Type.Optional(Type.String({ maxLength: 100, pattern: LINE_PATTERN })),
    node: Type.Optional(Type.String({ maxLength: 200, pattern: LINE_PATTERN })),
    account: Type.Optional(Uuid),
  },
  'FailureQuery',
);
export type FailureQuery = Static<typeof FailureQuery>;
export const FailurePage = Closed(
  {
    causes: Type.Array(
      Closed(
        {
          cause: Type.String(),
          sessions: Count,
          accounts: Count,
          nodes: Count,
          last_at: NullableTime,
        },
        'FailureCause',
      ),
    ),
    data: Type.Array(
      Closed(
        {
          id: Uuid,
          account_id: Uuid,
          account_name: Type.String(),
          model: Model,
          node_id: Type.String(),
          completed_at: NullableTime,
          audio_ms: Count,
          close_code: NullableCount,
          cause: Type.String(),
        },
        'FailedSession',
      ),
    ),
    now: DateTime,
  },
  'FailurePage',
);
export type FailurePage = Static<typeof FailurePage>;

/** What ended in a day: streams of all accounts. */
const DayFigures = Closed(
  { streams: Count, accounts: Count, charged_ms: Count, failed: Count },
  'DayFigures',
);
/** Where an operator begins: what waits, what is broken, and how much is used. */
export const OperatorStart = Closed(
  {
    waitlist: Count,
    /** When the one that waits longest began to wait. Null: nothing waits. */
    waitlist_since: NullableTime,
    requests: Count,
    requests_since: NullableTime,
    /** Sessions that failed within 24 hours and within 72, which include a weekend. At most 1,000. */
    failed_day: Count,
    failed_weekend: Count,
    nodes: Closed({ live: Count, draining: Count, lost: Count }, 'NodeCounts'),
    slots: Closed({ used: Count, all: Count }, 'SlotCounts'),
    /** The nightly audit of the ledger. Null: at least one invariant was never checked. */
    audited_at: NullableTime,
    violations: Count,
    /** What operators tell on the status page and is not over. */
    incidents: Type.Array(Type.String()),
    /** The last 24 hours, and the 24 hours a week before. */
    day: DayFigures,
    week_ago: DayFigures,
    now: DateTime,
  },
  'OperatorStart',
);
export type OperatorStart = Static<typeof OperatorStart>;

export const LedgerAuditPage = Closed(
  {
    data: Type.Array(
      Closed(
        {
          invariant: Type.String(),
          about: Type.String(),
          /** Null: never run since this was recorded. */
          ran_at: NullableTime,
          took_ms: Count,
          violations: Count,
        },
        'LedgerAudit',
      ),
    ),
    now: DateTime,
  },
  'LedgerAuditPage',
);
export type LedgerAuditPage = Static<typeof LedgerAuditPage>;

export const AuditLogQuery = Closed(
  {
    account: Type.Optional(Uuid),
    kind: Type.Optional(Type.Enum([...AUDIT_KINDS])),
    /** A part of the address of a person, or of a database login. */
    who: Type.Optional(Type.String({ maxLength: 200, pattern: LINE_PATTERN })),
    /** Both days are included. */
    from: Type.Optional(FilterDay),
    to: Type.Optional(FilterDay),
    before: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
  },
  'AuditLogQuery',
);
export type AuditLogQuery = Static<typeof AuditLogQuery>;
export const AuditLogEntry = Closed(
  {
    id: Count,
    at: DateTime,
    action: Type.String(),
    account_id: Type.Union([Uuid, Type.Null()]),
    account_name: NullableText,
    /** The person's address, or the database login. Null: the person was erased. */
    actor: NullableText,
    target: NullableText,
    /** The name of the key, or the address of the person. Null: it is gone, or the target has none. */
    target_name: NullableText,
    before: NullableText,
    after: NullableText,
    source: NullableText,
    request_id: NullableText,
    imported_from: NullableText,
  },
  'AuditLogEntry',
);
export type AuditLogEntry = Static<typeof AuditLogEntry>;
export const AuditLogPage = Closed(
  { data: Type.Array(AuditLogEntry), next: NullableText },
  'AuditLogPage',
);
export type AuditLogPage = Static<typeof AuditLogPage>;
