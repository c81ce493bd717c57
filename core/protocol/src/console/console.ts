import { Type, type Static, type TProperties } from 'typebox';
import { MODEL_IDS } from '../constants.ts';
import {
  CONSOLE_LANGUAGES,
  CONSOLE_LIMITS,
  EMAIL_LENGTH_MAX,
  EMAIL_PATTERN,
  ORIGIN_LENGTH_MAX,
  ORIGIN_PATTERN,
  ROLES,
} from './constants.ts';
import { Closed, Count, DateTime, Uuid } from '../schema.ts';
import { NAME_PATTERN, TEXT_PATTERN } from '../text-rules.ts';
import { UsageSession } from '../usage.ts';
import { OUTCOMES } from './outcome.ts';

/** Messages between the console's pages and its server, under /console-api. Not a public interface. */
export * from './constants.ts';

const Language = Type.Enum([...CONSOLE_LANGUAGES]);

const Email = Type.String({ maxLength: EMAIL_LENGTH_MAX, pattern: EMAIL_PATTERN });
const Name = Type.String({ maxLength: CONSOLE_LIMITS.nameLength, pattern: NAME_PATTERN });
const ModelChoice = Type.Enum([...MODEL_IDS]);
const RoleSchema = Type.Enum([...ROLES]);

export const JoinWaitlist = Closed(
  {
    email: Email,
    use_case: Type.String({ maxLength: 500, pattern: TEXT_PATTERN }),
    language: Language,
  },
  'JoinWaitlist',
);
export type JoinWaitlist = Static<typeof JoinWaitlist>;

/** A session of the demo on the public page. */
export const StartDemo = Closed({ model: ModelChoice }, 'StartDemo');
export type StartDemo = Static<typeof StartDemo>;

/** Whether the demo would start: `used` by this network today, or `closed` for everybody. */
export const DemoState = Closed({ state: Type.Enum(['open', 'used', 'closed']) }, 'DemoState');
export type DemoState = Static<typeof DemoState>;

/** Whether the service can email codes, and the only origin at which anybody can sign in. Passkeys always work there. */
export const SignInMethods = Closed(
  { email: Type.Boolean(), origin: Type.Optional(Type.String()) },
  'SignInMethods',
);
export type SignInMethods = Static<typeof SignInMethods>;

export const RequestCode = Closed({ email: Email, language: Language }, 'RequestCode');
export type RequestCode = Static<typeof RequestCode>;
export const CodeRequested = Closed({ challenge: Uuid }, 'CodeRequested');
export type CodeRequested = Static<typeof CodeRequested>;

export const VerifyCode = Closed(
  { challenge: Uuid, code: Type.String({ pattern: `^[0-9]{${CONSOLE_LIMITS.codeDigits}}$` }) },
  'VerifyCode',
);
export type VerifyCode = Static<typeof VerifyCode>;

const Base64Url = Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: 8_000 });
/** Browsers add their own fields to a device's response. This schema names only the required ones. */
function deviceResponse<T extends TProperties>(response: T) {
  return Type.Object({
    id: Base64Url,
    rawId: Base64Url,
    type: Type.Literal('public-key'),
    response: Type.Object({ clientDataJSON: Base64Url, ...response }),
    clientExtensionResults: Type.Object({}),
  });
}

export const UsePasskey = Closed(
  {
    credential: deviceResponse({
      authenticatorData: Base64Url,
      signature: Base64Url,
      userHandle: Base64Url,
    }),
  },
  'UsePasskey',
);
export type UsePasskey = Static<typeof UsePasskey>;

/** A code from `svc-admin operators enrol`, as it was typed. */
const enrolmentCode = { enrolment_code: Type.Optional(Type.String({ maxLength: 40 })) };
export const EnrolmentCode = Closed(enrolmentCode, 'EnrolmentCode');
export type EnrolmentCode = Static<typeof EnrolmentCode>;

export const AddPasskey = Closed(
  {
    ...enrolmentCode,
    name: Name,
    credential: deviceResponse({
      attestationObject: Base64Url,
      transports: Type.Optional(
        Type.Array(Type.String({ pattern: '^[a-z-]+$', maxLength: 20 }), { maxItems: 10 }),
      ),
    }),
  },
  'AddPasskey',
);
export type AddPasskey = Static<typeof AddPasskey>;

export const Passkey = Closed(
  {
    id: Uuid,
    name: Type.String(),
    created_at: DateTime,
    last_used_at: Type.Union([DateTime, Type.Null()]),
  },
  'Passkey',
);
export type Passkey = Static<typeof Passkey>;
export const PasskeyList = Closed(
  {
    data: Type.Array(Passkey),
    /** An operator adds their first passkey with a code. */
    needs_enrolment_code: Type.Boolean(),
  },
  'PasskeyList',
);
export type PasskeyList = Static<typeof PasskeyList>;

/** A browser in which the person is signed in. */
export const Device = Closed(
  {
    id: Uuid,
    /** Such as "Firefox 140". Null: the browser gave no known name. */
    client: Type.Union([Type.String(), Type.Null()]),
    system: Type.Union([Type.String(), Type.Null()]),
    verified_by: Type.Enum(['code', 'passkey']),
    signed_in_at: DateTime,
    last_seen_at: DateTime,
    current: Type.Boolean(),
  },
  'Device',
);
export type Device = Static<typeof Device>;
export const DeviceList = Closed({ data: Type.Array(Device), now: DateTime }, 'DeviceList');
export type DeviceList = Static<typeof DeviceList>;

export const MyAccount = Closed({ id: Uuid, name: Type.String(), role: RoleSchema }, 'MyAccount');
export const Me = Closed(
  {
    email: Type.String(),
    language: Language,
    operator: Type.Boolean(),
    /** The account this browser works in. Null: the person belongs to none. */
    account: Type.Union([
      Closed(
        { ...MyAccount.properties, active: Type.Boolean(), available_ms: Count },
        'CurrentAccount',
      ),
      Type.Null(),
    ]),
    accounts: Type.Array(MyAccount),
    invitations: Count,
    /** What waits for an operator. Null: the person is none, or signed in without a passkey. */
    waiting: Type.Union([
      Closed({ waitlist: Count, requests: Count, failures: Count }, 'OperatorInbox'),
      Type.Null(),
    ]),
  },
  'Me',
);
export type Me = Static<typeof Me>;

export const Invitation = Closed(
  {
    id: Uuid,
    account: Type.String(),
    invited_by: Type.Union([Type.String(), Type.Null()]),
    role: RoleSchema,
    sent_at: DateTime,
    expires_at: DateTime,
  },
  'Invitation',
);
export type Invitation = Static<typeof Invitation>;
export const InvitationList = Closed({ data: Type.Array(Invitation) }, 'InvitationList');
export type InvitationList = Static<typeof InvitationList>;
export const JoinedAccount = Closed({ account_id: Uuid }, 'JoinedAccount');
export type JoinedAccount = Static<typeof JoinedAccount>;
export const SwitchAccount = Closed({ account_id: Uuid }, 'SwitchAccount');

/** A session as in the public API, with its outcome, reservation and expiry. */
export const ConsoleSession = Closed(
  {
    ...UsageSession.properties,
    outcome: Type.Enum([...OUTCOMES]),
    reserved_ms: Count,
    expires_at: DateTime,
  },
  'ConsoleSession',
);
export type ConsoleSession = Static<typeof ConsoleSession>;

export const UsageDay = Closed(
  {
    date: Type.String({ format: 'date' }),
    model: ModelChoice,
    billable_ms: Count,
    sessions: Count,
  },
  'UsageDay',
);
export type UsageDay = Static<typeof UsageDay>;

/** The steps to the first words, and which of them are done. */
export const FirstRun = Closed(
  { key: Type.Boolean(), call: Type.Boolean(), words: Type.Boolean() },
  'FirstRun',
);
export type FirstRun = Static<typeof FirstRun>;

export const Overview = Closed(
  {
    available_ms: Count,
    reserved_ms: Count,
    consumed_ms: Count,
    sessions: Type.Array(ConsoleSession),
    days: Type.Array(UsageDay),
    concurrency_limit: Type.Integer({ description: 'Sessions at once. Another one gets 429.' }),
    first_run: FirstRun,
    /** The server's time, so that relative times and the last day of the chart are right on any device. */
    now: DateTime,
  },
  'Overview',
);
export type Overview = Static<typeof Overview>;

/** The part of the overview that changes while a session is live. */
export const OverviewLive = Closed(
  {
    available_ms: Count,
    reserved_ms: Count,
    consumed_ms: Count,
    /** Only sessions that have not ended. */
    sessions: Type.Array(ConsoleSession),
    now: DateTime,
  },
  'OverviewLive',
);
export type OverviewLive = Static<typeof OverviewLive>;

/** The credit that a run of the playground can use. */
export const PlaygroundCredit = Closed({ available_ms: Count }, 'PlaygroundCredit');
export type PlaygroundCredit = Static<typeof PlaygroundCredit>;

/** What the ledger says about one session of the playground. */
export const PlaygroundReceipt = Closed(
  {
    status: UsageSession.properties.status,
    /** Whether the figures are final. */
    settled: Type.Boolean(),
    audio_ms: Count,
    billable_ms: Count,
    available_ms: Count,
  },
  'PlaygroundReceipt',
);
export type PlaygroundReceipt = Static<typeof PlaygroundReceipt>;

export const ConsoleKey = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    hint: Type.String({ description: 'The public first characters of the key.' }),
    models: Type.Array(ModelChoice),
    status: Type.Enum(['live', 'expired', 'revoked']),
    created_at: DateTime,
    expires_at: Type.Union([DateTime, Type.Null()]),
    last_used_at: Type.Union([DateTime, Type.Null()]),
    revoked_at: Type.Union([DateTime, Type.Null()]),
    successor: Type.Union([Type.String(), Type.Null()], {
      description: 'The id of the live key that replaces this one.',
    }),
  },
  'ConsoleKey',
);
export type ConsoleKey = Static<typeof ConsoleKey>;
export const KeyList = Closed(
  {
    data: Type.Array(ConsoleKey),
    may_create: Type.Boolean({ description: 'False: the account has as many keys as it may.' }),
    limit: Type.Integer({ description: 'Live keys, not counting the successor of each.' }),
    now: DateTime,
  },
  'KeyList',
);
export type KeyList = Static<typeof KeyList>;

export const CreateKey = Closed(
  {
    name: Name,
    models: Type.Array(ModelChoice, { minItems: 1, uniqueItems: true }),
    expires_in_days: Type.Union([
      Type.Integer({ minimum: 1, maximum: CONSOLE_LIMITS.keyExpiryDaysMax }),
      Type.Null(),
    ]),
  },
  'CreateKey',
);
export type CreateKey = Static<typeof CreateKey>;
export const RenameKey = Closed({ name: Name }, 'RenameKey');
export type RenameKey = Static<typeof RenameKey>;
export const NewKey = Closed(
  { key: ConsoleKey, secret: Type.String({ description: 'Shown once.' }) },
  'NewKey',
);
export type NewKey = Static<typeof NewKey>;

export const Member = Closed(
  { id: Uuid, email: Type.String(), role: RoleSchema, you: Type.Boolean() },
  'Member',
);
export type Member = Static<typeof Member>;
export const SentInvitation = Closed(
  {
    id: Uuid,
    email: Type.String(),
    role: RoleSchema,
    status: Type.Enum(['pending', 'declined']),
    sent_at: DateTime,
  },
  'SentInvitation',
);
export type SentInvitation = Static<typeof SentInvitation>;

export const Settings = Closed(
  {
    allowed_origins: Type.Array(Type.String()),
    members: Type.Array(Member),
    invitations: Type.Array(SentInvitation),
  },
  'Settings',
);
export type Settings = Static<typeof Settings>;

export const SetOrigins = Closed(
  {
    allowed_origins: Type.Array(
      Type.String({ pattern: ORIGIN_PATTERN, maxLength: ORIGIN_LENGTH_MAX }),
      {
        maxItems: CONSOLE_LIMITS.allowedOrigins,
        uniqueItems: true,
      },
    ),
  },
  'SetOrigins',
);
export type SetOrigins = Static<typeof SetOrigins>;
export const SetLanguage = Closed({ language: Language }, 'SetLanguage');
export const InviteMember = Closed({ email: Email, role: RoleSchema }, 'InviteMember');
export type InviteMember = Static<typeof InviteMember>;
export const SetRole = Closed({ role: RoleSchema }, 'SetRole');
export const Erase = Closed({ confirm_email: Type.String({ maxLength: 254 }) }, 'Erase');

const Text = Type.Union([Type.String(), Type.Null()]);
export const ActivityEntry = Closed(
  {
    id: Count,
    at: DateTime,
    action: Type.String(),
    /** Who did it. Only people of the account are named. */
    by: Type.Enum(['person', 'operator', 'deleted']),
    actor: Text,
    target: Text,
    /** The name of the key, or the address of the person. */
    target_name: Text,
    before: Text,
    after: Text,
    source: Text,
    request_id: Text,
  },
  'ActivityEntry',
);
export type ActivityEntry = Static<typeof ActivityEntry>;
export const Activity = Closed({ data: Type.Array(ActivityEntry) }, 'Activity');
export type Activity = Static<typeof Activity>;
