import { Type, type Static, type TProperties } from 'typebox';
import { MODEL_IDS } from './constants.ts';
import { CONSOLE_LANGUAGES, CONSOLE_LIMITS, ROLES } from './console-constants.ts';
import { Closed, Count, DateTime, Uuid } from './schema.ts';
import { UsageSession } from './usage.ts';

/** What the console's pages and its server say to each other under /console-api. Not a public interface. */
export * from './console-constants.ts';

const Language = Type.Enum([...CONSOLE_LANGUAGES]);

const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
});
const Name = Type.String({ minLength: 1, maxLength: CONSOLE_LIMITS.nameLength, pattern: '\\S' });
const ModelChoice = Type.Enum([...MODEL_IDS]);
const RoleSchema = Type.Enum([...ROLES]);

export const JoinWaitlist = Closed(
  { email: Email, use_case: Type.String({ maxLength: 500 }), language: Language },
  'JoinWaitlist',
);
export type JoinWaitlist = Static<typeof JoinWaitlist>;

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
/** Browsers add fields of their own to what a device answers; those that count are named here. */
function deviceAnswer<T extends TProperties>(response: T) {
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
    credential: deviceAnswer({
      authenticatorData: Base64Url,
      signature: Base64Url,
      userHandle: Base64Url,
    }),
  },
  'UsePasskey',
);
export type UsePasskey = Static<typeof UsePasskey>;

export const AddPasskey = Closed(
  {
    name: Name,
    credential: deviceAnswer({
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
export const PasskeyList = Closed({ data: Type.Array(Passkey) }, 'PasskeyList');
export type PasskeyList = Static<typeof PasskeyList>;

export const Me = Closed(
  {
    email: Type.String(),
    role: RoleSchema,
    language: Language,
    operator: Type.Boolean(),
    account: Closed({ name: Type.String(), active: Type.Boolean() }, 'MyAccount'),
  },
  'Me',
);
export type Me = Static<typeof Me>;

/** A session as the public interface shows it, and what was held for it until when. */
export const ConsoleSession = Closed(
  { ...UsageSession.properties, reserved_ms: Count, expires_at: DateTime },
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

export const Overview = Closed(
  {
    available_ms: Count,
    reserved_ms: Count,
    consumed_ms: Count,
    sessions: Type.Array(ConsoleSession),
    days: Type.Array(UsageDay),
    /** The server's clock, so that "3 minutes ago" and the chart's last day are right on any device. */
    now: DateTime,
  },
  'Overview',
);
export type Overview = Static<typeof Overview>;

export const ConsoleKey = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    hint: Type.String({ description: 'The public beginning of the key.' }),
    models: Type.Array(ModelChoice),
    status: Type.Enum(['live', 'expired', 'revoked']),
    created_at: DateTime,
    expires_at: Type.Union([DateTime, Type.Null()]),
    last_used_at: Type.Union([DateTime, Type.Null()]),
    revoked_at: Type.Union([DateTime, Type.Null()]),
  },
  'ConsoleKey',
);
export type ConsoleKey = Static<typeof ConsoleKey>;
export const KeyList = Closed({ data: Type.Array(ConsoleKey) }, 'KeyList');
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
export const NewKey = Closed(
  { key: ConsoleKey, secret: Type.String({ description: 'Shown once.' }) },
  'NewKey',
);
export type NewKey = Static<typeof NewKey>;

export const Member = Closed(
  { id: Uuid, email: Type.String(), role: RoleSchema, you: Type.Boolean(), joined: Type.Boolean() },
  'Member',
);
export type Member = Static<typeof Member>;

export const Settings = Closed(
  { allowed_origins: Type.Array(Type.String()), members: Type.Array(Member) },
  'Settings',
);
export type Settings = Static<typeof Settings>;

export const SetOrigins = Closed(
  {
    allowed_origins: Type.Array(Type.String({ pattern: '^https?://[^/\\s]+$', maxLength: 200 }), {
      maxItems: CONSOLE_LIMITS.allowedOrigins,
      uniqueItems: true,
    }),
  },
  'SetOrigins',
);
export type SetOrigins = Static<typeof SetOrigins>;
export const SetLanguage = Closed({ language: Language }, 'SetLanguage');
export const InviteMember = Closed({ email: Email, role: RoleSchema }, 'InviteMember');
export type InviteMember = Static<typeof InviteMember>;
export const SetRole = Closed({ role: RoleSchema }, 'SetRole');
export const Erase = Closed({ confirm_email: Type.String({ maxLength: 254 }) }, 'Erase');

export const WaitlistEntry = Closed(
  {
    id: Type.String(),
    email: Type.String(),
    use_case: Type.String(),
    status: Type.Enum(['waiting', 'approved', 'declined']),
    joined_at: DateTime,
  },
  'WaitlistEntry',
);
export type WaitlistEntry = Static<typeof WaitlistEntry>;
export const WaitlistPage = Closed({ data: Type.Array(WaitlistEntry) }, 'WaitlistPage');
export type WaitlistPage = Static<typeof WaitlistPage>;
export const Approve = Closed(
  { credit_minutes: Type.Integer({ minimum: 1, maximum: 100_000 }) },
  'Approve',
);
