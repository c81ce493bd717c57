import { useState, type FormEvent } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import type { CreditRequest, CreditRequestList } from '@svc-asr/protocol/console/credit.ts';
import { post } from '../../app/api.ts';
import { formatAudio, formatDateTime } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { useLoad } from '../../app/use-load.ts';
import { Button, Field, TextField } from '../../design/controls.tsx';
import { Badge, ErrorNotice, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { useCreditTexts } from '../../texts/credit.ts';
import { parseWhole } from '../../app/parse-whole.ts';

const TONES = { open: 'warn', granted: 'good', declined: 'plain' } as const;

/** Requests for credit: a form for owners, and what became of earlier ones. */
export default function CreditScreen({ me }: { me: Me }) {
  const texts = useCreditTexts();
  const { load, reload } = useLoad<CreditRequestList>('/credit-requests');
  return (
    <>
      <PageHead title={texts.title} lead={texts.lead} />
      <Loaded load={load} onRetry={() => void reload()}>
        {(list) => (
          <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
            <Ask list={list} isOwner={me.account?.role === 'owner'} onSent={reload} />
            <Card title={texts.history}>
              <History requests={list.data} />
            </Card>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Ask(props: { list: CreditRequestList; isOwner: boolean; onSent: () => Promise<void> }) {
  const texts = useCreditTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const [isSent, setSent] = useState(false);
  const { list } = props;
  const open = list.data.find(({ status }) => status === 'open');
  return (
    <Card title={texts.ask} lead={texts.available(formatAudio(list.available_ms, common))}>
      {open !== undefined ? (
        <Notice tone={isSent ? 'good' : 'info'}>
          {isSent
            ? texts.sent
            : texts.open(
                formatAudio(open.requested_ms, common),
                formatDateTime(open.requested_at, language),
              )}
        </Notice>
      ) : props.isOwner ? (
        <Form
          onSent={async () => {
            setSent(true);
            await props.onSent();
          }}
        />
      ) : (
        <Notice tone="info">{texts.ownersOnly}</Notice>
      )}
    </Card>
  );
}

function Form({ onSent }: { onSent: () => Promise<void> }) {
  const texts = useCreditTexts();
  const [minutes, setMinutes] = useState('60');
  const [message, setMessage] = useState('');
  const amount = parseWhole(minutes, CONSOLE_LIMITS.creditRequestMinutes);
  const send = useAction(async () => {
    await post('/credit-requests', { minutes: amount, message: message.trim() });
    await onSent();
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (amount !== null) send.run();
  }
  return (
    <form onSubmit={submit} noValidate className="grid max-w-xl gap-4">
      <TextField
        label={texts.minutes}
        hint={texts.minutesHint}
        type="number"
        inputMode="numeric"
        min={1}
        max={CONSOLE_LIMITS.creditRequestMinutes}
        value={minutes}
        onChange={setMinutes}
        className="max-w-40"
      />
      <Field label={texts.message} hint={texts.messageHint}>
        {(control) => (
          <textarea
            {...control}
            className="input"
            rows={3}
            maxLength={CONSOLE_LIMITS.creditRequestText}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
      <ErrorNotice error={send.error} />
      <div>
        <Button kind="primary" type="submit" busy={send.busy} disabled={amount === null}>
          {texts.send}
        </Button>
      </div>
    </form>
  );
}

function History({ requests }: { requests: CreditRequest[] }) {
  const texts = useCreditTexts();
  const common = useTexts();
  const { language } = useLanguage();
  if (requests.length === 0) return <p className="text-sm text-ink-2">{texts.empty}</p>;
  return (
    <ul className="divide-y divide-line text-sm">
      {requests.map((request) => (
        <li
          key={request.id}
          className="grid grid-cols-[1fr_auto] items-baseline gap-x-4 gap-y-1 py-3 first:pt-0 last:pb-0"
        >
          <p className="font-medium">{texts.asked(formatAudio(request.requested_ms, common))}</p>
          <Badge tone={TONES[request.status]}>{texts.states[request.status]}</Badge>
          <div className="col-span-2 grid gap-1">
            {request.granted_ms !== null && (
              <p>{texts.granted(formatAudio(request.granted_ms, common))}</p>
            )}
            {request.reply !== null && (
              <p className="wrap-anywhere">{texts.reply(request.reply)}</p>
            )}
            {request.message !== '' && (
              <p className="wrap-anywhere whitespace-pre-line text-ink-2">{request.message}</p>
            )}
            <p className="text-xs text-ink-3">{formatDateTime(request.requested_at, language)}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}
