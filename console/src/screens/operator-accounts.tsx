import { useEffect, useRef, useState } from 'react';
import type { OperatorAccount, OperatorAccountPage } from '@svc-asr/protocol/console.ts';
import { post } from '../app/api.ts';
import { useTexts } from '../app/language.tsx';
import { withConfirmation } from '../app/passkeys.ts';
import { useAction } from '../app/use-action.ts';
import { useLoad } from '../app/use-load.ts';
import { ConfirmDialog } from '../design/confirm-dialog.tsx';
import { Button, TextField } from '../design/controls.tsx';
import { Badge, ErrorNotice, Loaded } from '../design/feedback.tsx';
import { Card } from '../design/surfaces.tsx';

/** Finds accounts, suspends them and resumes them. The server asks for the operator's passkey. */
export function OperatorAccounts({ approvals }: { approvals: number }) {
  const texts = useTexts().operator.accounts;
  const [search, setSearch] = useState('');
  const path = `/operator/accounts?search=${encodeURIComponent(search)}`;
  const { load, reload } = useLoad<OperatorAccountPage>(path);
  const [changed, setChanged] = useState<{ id: string; sentence: string } | null>(null);
  const seen = useRef(approvals);
  useEffect(() => {
    if (seen.current !== approvals) void reload();
    seen.current = approvals;
  }, [approvals, reload]);
  const [suspending, setSuspending] = useState<OperatorAccount | null>(null);
  async function done(id: string, sentence: string): Promise<void> {
    setChanged({ id, sentence });
    await reload();
  }
  return (
    <Card title={texts.title} lead={texts.lead}>
      <div className="grid gap-4">
        <TextField label={texts.search} type="search" value={search} onChange={setSearch} />
        <Loaded load={load} onRetry={() => void reload()}>
          {({ data }) =>
            data.length === 0 ? (
              <p className="text-sm text-ink-2">{texts.empty}</p>
            ) : (
              <ul className="divide-y divide-line">
                {data.map((account) => (
                  <AccountRow
                    key={account.id}
                    account={account}
                    onSuspend={() => setSuspending(account)}
                    news={changed?.id === account.id ? changed.sentence : null}
                    onResumed={() => done(account.id, texts.resumed(account.name))}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
      {suspending !== null && (
        <ConfirmDialog
          title={texts.suspendTitle(suspending.name)}
          lead={texts.suspendLead}
          action={texts.suspendAction}
          kind="destroy"
          onConfirm={async () => {
            await withConfirmation(() => post(`/operator/accounts/${suspending.id}/suspend`));
            setSuspending(null);
            await done(suspending.id, texts.suspended(suspending.name));
          }}
          onClose={() => setSuspending(null)}
        />
      )}
    </Card>
  );
}

function AccountRow(props: {
  account: OperatorAccount;
  /** The result of the last change of this account. */
  news: string | null;
  onSuspend: () => void;
  onResumed: () => Promise<void>;
}) {
  const texts = useTexts().operator.accounts;
  const { account } = props;
  const resume = useAction(async () => {
    await withConfirmation(() => post(`/operator/accounts/${account.id}/resume`));
    await props.onResumed();
  });
  return (
    <li className="grid gap-3 py-3 sm:grid-cols-[1fr_auto_auto] sm:items-center">
      <div className="min-w-0">
        <p className="font-medium wrap-anywhere">{account.name}</p>
        <p className="text-xs wrap-anywhere text-ink-3">
          {account.email === null || account.email === account.name
            ? account.id
            : `${account.email} · ${account.id}`}
        </p>
        <ErrorNotice error={resume.error} />
        <p role="status" className="text-sm text-accent-strong empty:hidden">
          {props.news}
        </p>
      </div>
      <div>
        <Badge tone={account.status === 'active' ? 'good' : 'bad'}>
          {texts.status[account.status]}
        </Badge>
      </div>
      {account.status === 'active' ? (
        <Button
          kind="danger"
          aria-label={texts.suspendNamed(account.name)}
          onClick={props.onSuspend}
        >
          {texts.suspend}
        </Button>
      ) : (
        <Button
          busy={resume.busy}
          aria-label={texts.resumeNamed(account.name)}
          onClick={() => resume.run()}
        >
          {texts.resume}
        </Button>
      )}
    </li>
  );
}
