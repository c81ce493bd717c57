import { useState, type FormEvent } from 'react';
import { ROLES } from '@svc-asr/protocol/console/constants.ts';
import type {
  Me,
  Member,
  Role,
  SentInvitation,
  Settings,
} from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { Button, Field } from '../../design/controls.tsx';
import { ErrorNotice, Notice } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { SentInvitations } from './sent-invitations.tsx';

interface TeamProps {
  me: Me;
  members: Member[];
  invitations: SentInvitation[];
  onChanged: (settings: Settings) => void;
  onLeft: () => void;
}

export function TeamSection({ me, members, invitations, onChanged, onLeft }: TeamProps) {
  const texts = useTexts();
  const [leaving, setLeaving] = useState<Member | null>(null);
  const [promoted, setPromoted] = useState<Member | null>(null);
  async function setRole(member: Member, role: Role): Promise<void> {
    onChanged(await post<Settings>(`/settings/members/${member.id}/role`, { role }));
    setPromoted(null);
  }
  const changeRole = useAction(setRole);
  async function remove(member: Member): Promise<void> {
    if (member.you) {
      await post('/settings/leave');
      return onLeft();
    }
    onChanged(await post<Settings>(`/settings/members/${member.id}/remove`));
    setLeaving(null);
  }
  const owner = me.account?.role === 'owner';
  return (
    <Card title={texts.settings.members}>
      <ul className="divide-y divide-line">
        {members.map((member) => (
          <li key={member.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
            <span className="min-w-0 grow wrap-anywhere">
              {member.email}{' '}
              {member.you && <span className="text-sm text-ink-3">({texts.common.you})</span>}
            </span>
            <div className="flex items-center gap-2 max-sm:w-full max-sm:justify-between">
              {owner ? (
                <RoleSelect
                  label={texts.settings.roleOf(member.email)}
                  role={member.role}
                  onChange={(role) =>
                    role === 'owner' ? setPromoted(member) : changeRole.run(member, role)
                  }
                />
              ) : (
                <span className="text-sm text-ink-2">{texts.settings.roles[member.role]}</span>
              )}
              {(owner || member.you) && (
                <Button kind="quiet" onClick={() => setLeaving(member)}>
                  {member.you ? texts.settings.leave : texts.settings.remove}
                  {!member.you && <span className="sr-only">{member.email}</span>}
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      <ErrorNotice error={changeRole.error} />
      <SentInvitations invitations={invitations} owner={owner} onChanged={onChanged} />
      {owner && <Invite onChanged={onChanged} />}
      {promoted !== null && (
        <ConfirmDialog
          title={texts.settings.promoteTitle(promoted.email)}
          lead={texts.settings.promoteLead}
          action={texts.settings.promote}
          kind="primary"
          onConfirm={() => setRole(promoted, 'owner')}
          onClose={() => setPromoted(null)}
        />
      )}
      {leaving !== null && (
        <ConfirmDialog
          title={
            leaving.you
              ? texts.settings.leaveTitle(me.account?.name ?? '')
              : texts.settings.removeTitle(leaving.email)
          }
          lead={leaving.you ? texts.settings.leaveLead : texts.settings.removeLead}
          action={leaving.you ? texts.settings.leave : texts.settings.remove}
          kind="destroy"
          onConfirm={() => remove(leaving)}
          onClose={() => setLeaving(null)}
        />
      )}
    </Card>
  );
}

function RoleSelect(props: { label: string; role: Role; onChange: (role: Role) => void }) {
  const texts = useTexts();
  return (
    <select
      aria-label={props.label}
      className="input select w-auto py-1.5 text-sm"
      value={props.role}
      onChange={(event) =>
        props.onChange(ROLES.find((role) => role === event.target.value) ?? 'member')
      }
    >
      {ROLES.map((role) => (
        <option key={role} value={role}>
          {texts.settings.roles[role]}
        </option>
      ))}
    </select>
  );
}

function Invite({ onChanged }: { onChanged: (settings: Settings) => void }) {
  const texts = useTexts();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [invited, setInvited] = useState<string | null>(null);
  const invite = useAction(async () => {
    const address = email.trim();
    onChanged(await post<Settings>('/settings/members', { email: address, role }));
    setInvited(address);
    setEmail('');
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    setInvited(null);
    invite.run();
  }
  return (
    <form onSubmit={submit} className="mt-4 grid gap-3 border-t border-line pt-5">
      <Field label={texts.settings.inviteEmail}>
        {(control) => (
          <div className="flex flex-wrap gap-2">
            <input
              {...control}
              type="email"
              required
              autoComplete="off"
              className="input min-w-0 flex-1 basis-56"
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
            <RoleSelect label={texts.settings.role} role={role} onChange={setRole} />
            <Button type="submit" busy={invite.busy}>
              {texts.settings.invite}
            </Button>
          </div>
        )}
      </Field>
      <ErrorNotice error={invite.error} />
      {invited !== null && <Notice tone="good">{texts.settings.invited(invited)}</Notice>}
    </form>
  );
}
