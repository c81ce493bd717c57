import type { ActivityEntry } from '@svc-asr/protocol/console/console.ts';
import { formatAudio } from '../../app/format.ts';
import type { Texts } from '../../texts/en.ts';

const RENAMED = 'api_key.renamed';

type Values = Readonly<Record<string, unknown>>;

/** Returns the entries from before a rename of their API key, of a list that begins with the newest. */
export function findBeforeRename(entries: readonly ActivityEntry[]): ReadonlySet<ActivityEntry> {
  const renamed = new Set<string | null>();
  return new Set(
    entries.filter(({ action, target }) => {
      const isOld = renamed.has(target);
      if (action === RENAMED) renamed.add(target);
      return isOld && action !== RENAMED;
    }),
  );
}

/** Says what happened in one sentence, with names. */
export function explainActivity(
  entry: ActivityEntry,
  texts: Texts,
  isBeforeRename: boolean,
): string {
  const { says } = texts.activity;
  const who = entry.actor ?? (entry.by === 'deleted' ? says.deleted : says.operator);
  const name = entry.target_name ?? says.deleted;
  const key = isBeforeRename
    ? says.keyBeforeRename(entry.target ?? '', name)
    : `"${keyName(entry, texts)}"`;
  const before = parse(entry.before);
  const after = parse(entry.after);
  switch (entry.action) {
    case 'sign_in':
      return after['verified_by'] === 'passkey' ? says.signInPasskey(who) : says.signInCode(who);
    case 'api_key.created':
      return says.keyCreated(who, key);
    case 'api_key.changed':
      return 'revoked_at' in after ? says.keyRevoked(who, key) : says.keyChanged(who, key);
    case RENAMED:
      return says.keyRenamed(who, key);
    case 'account.created':
      return says.accountCreated(who);
    case 'account.changed':
      return explainAccount(who, after, texts);
    case 'member.created':
      return says.memberJoined(name, role(after, texts));
    case 'member.changed':
      return says.roleChanged(who, name, role(after, texts));
    case 'member.deleted':
      return entry.actor === null || entry.actor === name
        ? says.memberLeft(name)
        : says.memberRemoved(who, name);
    case 'invitation.created':
      return says.invited(who, name, role(after, texts));
    case 'invitation.changed':
      return explainInvitation({ who, name, status: String(after['status']) }, texts);
    case 'credit.grant':
      return says.creditGranted(who, formatAudio(creditChange(before, after), texts));
    case 'credit.adjust':
      return explainAdjustment(who, creditChange(before, after), texts);
    case 'credit_request.created':
      return says.creditRequested(who);
    case 'credit_request.granted':
      return says.creditApproved(who);
    case 'credit_request.declined':
      return says.creditDeclined(who);
    case 'waitlist.changed':
      return says.approved(who);
  }
  return says.other(who, entry.action);
}

/** Why an operator did it. */
export function reasonOf(entry: ActivityEntry): string | null {
  const { reason } = parse(entry.after);
  return typeof reason === 'string' && reason !== '' ? reason : null;
}

function explainAccount(who: string, after: Values, texts: Texts): string {
  const { says } = texts.activity;
  if (after['status'] === 'suspended') return says.suspended(who);
  if (after['status'] === 'active') return says.resumed(who);
  if ('key_limit' in after) return says.keyLimit(who, String(after['key_limit']));
  if ('concurrency_limit' in after) return says.limit(who, String(after['concurrency_limit']));
  if ('allowed_origins' in after) {
    const origins = after['allowed_origins'];
    return Array.isArray(origins) && origins.length > 0
      ? says.origins(who, origins.join(', '))
      : says.originsAny(who);
  }
  return says.accountChanged(who);
}

function explainInvitation(
  input: { who: string; name: string; status: string },
  texts: Texts,
): string {
  const { says } = texts.activity;
  const { who, name } = input;
  switch (input.status) {
    case 'accepted':
      return says.invitationAccepted(name);
    case 'declined':
      return says.invitationDeclined(name);
    case 'expired':
      return says.invitationExpired(name);
  }
  return says.invitationWithdrawn(who, name);
}

function explainAdjustment(who: string, ms: number, texts: Texts): string {
  const amount = formatAudio(Math.abs(ms), texts);
  return ms < 0
    ? texts.activity.says.creditTaken(who, amount)
    : texts.activity.says.creditGranted(who, amount);
}

function keyName(entry: ActivityEntry, texts: Texts): string {
  return entry.target_name === null || entry.target_name === ''
    ? (entry.target ?? texts.activity.says.deleted)
    : entry.target_name;
}

function role(values: Values, texts: Texts): string {
  return texts.settings.roles[values['role'] === 'owner' ? 'owner' : 'member'].toLowerCase();
}

function creditChange(before: Values, after: Values): number {
  return Number(after['available_ms']) - Number(before['available_ms']);
}

function parse(text: string | null): Values {
  return text === null ? {} : JSON.parse(text);
}
