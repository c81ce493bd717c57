import type { AuditLogEntry } from '@svc-asr/protocol/console/operator.ts';
import type { Texts } from '../../texts/en.ts';
import type { OperatorTexts } from '../../texts/operator.ts';
import { explainActivity } from '../activity/explain-activity.ts';

/** Says who did what in one sentence. The account is named beside it. */
export function explainChange(
  entry: AuditLogEntry,
  texts: { common: Texts; operator: OperatorTexts },
): string {
  const { says, erased } = texts.operator.audit;
  const who = entry.actor ?? atStart(erased);
  const name = entry.target_name ?? erased;
  const after: Readonly<Record<string, unknown>> = JSON.parse(entry.after ?? '{}');
  switch (entry.action) {
    case 'command':
      return says.command(who, entry.target ?? '');
    case 'sign_in.failed':
      return says.signInFailed(name);
    case 'passkey.created':
      return says.passkeyAdded(who, name);
    case 'passkey.deleted':
      return says.passkeyRemoved(who, name);
    case 'operator.changed':
      return after['is_operator'] === true
        ? says.operatorAdded(who, name)
        : says.operatorRemoved(who, name);
    case 'operator.enrolment_created':
      return says.enrolment(who, name);
    case 'operator.enrolled':
      return says.enrolled(entry.target_name ?? atStart(erased));
    case 'operator.enrolment_failed':
      return says.enrolmentFailed(name);
    case 'operator.sign_in_code_created':
      return says.signInCode(who, name);
    case 'waitlist.changed':
      return after['status'] === 'declined' ? says.declined(who) : says.approved(who);
    case 'waitlist.erased':
      return says.erased(who);
    case 'incident.created':
      return says.incidentAdded(who, String(after['text']));
    case 'incident.changed':
      return 'ended_at' in after
        ? says.incidentEnded(who, entry.target ?? '')
        : says.incidentChanged(who, entry.target ?? '');
    case 'incident.deleted':
      return says.incidentRemoved(who, entry.target ?? '');
    case 'session.end_requested':
      return says.sessionEnded(who, entry.target ?? '');
    case 'ledger.history_accepted':
      return says.historyAccepted(who);
    case 'cell.linked':
      return says.cellLinked(who, entry.target ?? '');
    case 'account.imported':
      return says.imported(who);
  }
  const by = entry.actor === null ? 'deleted' : 'person';
  return explainActivity({ ...entry, by }, texts.common, false);
}

/** "A deleted person", as the first words of a sentence. */
function atStart(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
