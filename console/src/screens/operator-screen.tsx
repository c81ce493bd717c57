import { useState } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console-constants.ts';
import type { WaitlistEntry, WaitlistPage } from '@svc-asr/protocol/console.ts';
import { post } from '../app/api.ts';
import { formatDate } from '../app/format.ts';
import { useLanguage, useTexts } from '../app/language.tsx';
import { withConfirmation } from '../app/passkeys.ts';
import { useAction } from '../app/use-action.ts';
import { useLoad } from '../app/use-load.ts';
import { Button, Field } from '../design/controls.tsx';
import { Badge, Empty, ErrorNotice, Loaded, Notice } from '../design/feedback.tsx';
import { Card, PageHead } from '../design/surfaces.tsx';
import { OperatorAccounts } from './operator-accounts.tsx';

const CREDIT_MINUTES_DEFAULT = 60;

/** For operators only. The server refuses everyone else. */
export default function OperatorScreen() {
  const texts = useTexts();
  const { load, reload } = useLoad<WaitlistPage>('/operator/waitlist');
  const [done, setDone] = useState<string | null>(null);
  async function decided(sentence: string): Promise<void> {
    setDone(sentence);
    await reload();
  }
  return (
    <>
      <PageHead title={texts.operator.title} lead={texts.operator.lead} />
      <div className="grid gap-4">
        {done !== null && <Notice tone="good">{done}</Notice>}
        <Card>
          <Loaded load={load} onRetry={() => void reload()}>
            {(page) => <Entries entries={page.data} onDecided={decided} />}
          </Loaded>
        </Card>
        <OperatorAccounts onDone={setDone} />
      </div>
    </>
  );
}

function Entries(props: { entries: WaitlistEntry[]; onDecided: (done: string) => Promise<void> }) {
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
            <Waiting key={entry.id} entry={entry} onDecided={props.onDecided} />
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

function Waiting(props: { entry: WaitlistEntry; onDecided: (done: string) => Promise<void> }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const { entry } = props;
  const [minutes, setMinutes] = useState(CREDIT_MINUTES_DEFAULT);
  const approve = useAction(async () => {
    const path = `/operator/waitlist/${entry.id}/approve`;
    await withConfirmation(() => post(path, { credit_minutes: minutes }));
    await props.onDecided(texts.operator.approved(entry.email));
  });
  const decline = useAction(async () => {
    await post(`/operator/waitlist/${entry.id}/decline`);
    await props.onDecided(texts.operator.declined(entry.email));
  });
  return (
    <li className="grid gap-4 py-5 first:pt-1 last:pb-1 md:grid-cols-[1fr_auto] md:items-end">
      <div className="min-w-0">
        <h2 className="text-base wrap-anywhere">{entry.email}</h2>
        <p className="text-xs text-ink-3">
          {texts.operator.joined(formatDate(entry.joined_at, language))}
        </p>
        <p className="mt-2 max-w-[60ch] text-sm wrap-anywhere text-ink-2">
          {entry.use_case === '' ? texts.operator.noUse : entry.use_case}
        </p>
        <ErrorNotice error={approve.error ?? decline.error} />
      </div>
      <div className="grid grid-cols-2 items-end gap-2 max-md:[&>:first-child]:col-span-2 md:grid-cols-[12rem_auto_auto]">
        <Field label={texts.operator.credit}>
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              max={CONSOLE_LIMITS.approvalMinutes}
              className="input"
              value={minutes}
              onChange={(event) => setMinutes(event.target.valueAsNumber)}
            />
          )}
        </Field>
        <Button kind="danger" busy={decline.busy} onClick={() => decline.run()}>
          {texts.operator.decline}
        </Button>
        <Button
          kind="primary"
          busy={approve.busy}
          disabled={!Number.isInteger(minutes) || minutes < 1}
          onClick={() => approve.run()}
        >
          {texts.operator.approve}
        </Button>
      </div>
    </li>
  );
}
