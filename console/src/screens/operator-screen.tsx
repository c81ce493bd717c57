import { useState } from 'react';
import type { WaitlistEntry, WaitlistPage } from '@svc-asr/protocol/console.ts';
import { ConsoleApiError } from '../app/api.ts';
import { useTexts } from '../app/language.tsx';
import { Link } from '../app/router.tsx';
import { useLoad } from '../app/use-load.ts';
import { Badge, Empty, Loaded, Notice } from '../design/feedback.tsx';
import { Card, PageHead } from '../design/surfaces.tsx';
import { OperatorAccounts } from './operator-accounts.tsx';
import { WaitingEntry } from './waiting-entry.tsx';

/** For operators only. The server refuses everyone else. */
export default function OperatorScreen() {
  const texts = useTexts();
  const { load, reload } = useLoad<WaitlistPage>('/operator/waitlist');
  // Each approval adds an account, which the list below then shows.
  const [approvals, setApprovals] = useState(0);
  return (
    <>
      <PageHead title={texts.operator.title} lead={texts.operator.lead} />
      {load.state === 'error' && needsPasskey(load.error) ? (
        <Notice tone="info">
          {texts.operator.passkeyFirst}{' '}
          <Link href="/app/settings" className="underline underline-offset-4">
            {texts.operator.passkeyLink}
          </Link>
        </Notice>
      ) : (
        <div className="grid gap-4">
          <Card>
            <Loaded load={load} onRetry={() => void reload()}>
              {(page) => (
                <Entries entries={page.data} onApproved={() => setApprovals((n) => n + 1)} />
              )}
            </Loaded>
          </Card>
          <OperatorAccounts approvals={approvals} />
        </div>
      )}
    </>
  );
}

function needsPasskey(error: unknown): boolean {
  return error instanceof ConsoleApiError && error.code === 'passkey_required';
}

/** Decided rows stay where they are, so that no other row moves under the pointer. */
function Entries(props: { entries: WaitlistEntry[]; onApproved: () => void }) {
  const texts = useTexts();
  const waiting = props.entries.filter((entry) => entry.status === 'waiting');
  const past = props.entries.filter((entry) => entry.status !== 'waiting');
  return (
    <div className="grid gap-4">
      {waiting.length === 0 ? (
        <Empty icon="operator" title={texts.operator.emptyTitle} text={texts.operator.empty} />
      ) : (
        <ul className="divide-y divide-line">
          {waiting.map((entry) => (
            <WaitingEntry key={entry.id} entry={entry} onApproved={props.onApproved} />
          ))}
        </ul>
      )}
      {past.length > 0 && (
        <details className="text-sm">
          <summary className="rounded-sm text-ink-2 underline underline-offset-4">
            {texts.operator.past(past.length)}
          </summary>
          <ul className="mt-2 divide-y divide-line">
            {past.map((entry) => (
              <li key={entry.id} className="flex items-center justify-between gap-3 py-2.5">
                <span className="min-w-0 truncate">{entry.email}</span>
                <Badge tone={entry.status === 'approved' ? 'good' : 'plain'}>
                  {texts.operator.status[entry.status]}
                </Badge>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
