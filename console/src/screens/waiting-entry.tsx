import { useEffect, useRef, useState } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console-constants.ts';
import type { WaitlistEntry } from '@svc-asr/protocol/console.ts';
import { post } from '../app/api.ts';
import { formatDate } from '../app/format.ts';
import { useLanguage, useTexts } from '../app/language.tsx';
import { withConfirmation } from '../app/passkeys.ts';
import { useAction } from '../app/use-action.ts';
import { Button, Field } from '../design/controls.tsx';
import { Badge, ErrorNotice } from '../design/feedback.tsx';

const CREDIT_MINUTES_DEFAULT = 60;
const UNDO_MS = 10_000;

type State = 'waiting' | 'declining' | 'approved' | 'declined';

/** One request for access. After a decision the row fades in place; a decline can be undone for ten seconds. */
export function WaitingEntry(props: { entry: WaitlistEntry; onApproved: () => void }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const { entry } = props;
  const [state, setState] = useState<State>('waiting');
  const [minutes, setMinutes] = useState(CREDIT_MINUTES_DEFAULT);
  const approve = useAction(async () => {
    const path = `/operator/waitlist/${entry.id}/approve`;
    await withConfirmation(() => post(path, { credit_minutes: minutes }));
    setState('approved');
    props.onApproved();
  });
  const decline = useDecline(entry.id, setState);
  return (
    <li className="grid gap-4 py-5 first:pt-1 last:pb-1 md:grid-cols-[1fr_auto] md:items-end">
      <div className={`min-w-0 ${state === 'waiting' ? '' : 'stale'}`}>
        <h2 className="text-base wrap-anywhere">{entry.email}</h2>
        <p className="text-xs text-ink-3">
          {texts.operator.joined(formatDate(entry.joined_at, language))}
        </p>
        <p className="mt-2 max-w-[60ch] text-sm wrap-anywhere text-ink-2">
          {entry.use_case === '' ? texts.operator.noUse : entry.use_case}
        </p>
        <ErrorNotice error={approve.error ?? decline.error} />
      </div>
      {/* The row keeps its height, so that no other row moves under the pointer. */}
      <div className="grid items-end *:[grid-area:1/1]">
        <div
          className={`grid grid-cols-2 items-end gap-2 max-md:[&>:first-child]:col-span-2 md:grid-cols-[12rem_auto_auto] ${state === 'waiting' ? '' : 'invisible'}`}
        >
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
          <Button kind="danger" onClick={decline.start}>
            {texts.operator.decline}
            <span className="sr-only">{entry.email}</span>
          </Button>
          <Button
            kind="primary"
            busy={approve.busy}
            disabled={!Number.isInteger(minutes) || minutes < 1}
            onClick={() => approve.run()}
          >
            {texts.operator.approve}
            <span className="sr-only">{entry.email}</span>
          </Button>
        </div>
        {state !== 'waiting' && <Decided state={state} email={entry.email} onUndo={decline.undo} />}
      </div>
    </li>
  );
}

/** Says what happened where the buttons were, and has the focus. */
function Decided(props: { state: Exclude<State, 'waiting'>; email: string; onUndo: () => void }) {
  const texts = useTexts().operator;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div
      ref={place}
      tabIndex={-1}
      className="flex flex-wrap items-center gap-3 self-center rounded-sm text-sm outline-offset-4"
    >
      {props.state === 'declining' && <Button onClick={props.onUndo}>{texts.undo}</Button>}
      <p role="status">
        {props.state === 'approved' ? (
          <Badge tone="good">{texts.approved(props.email)}</Badge>
        ) : (
          <Badge tone="plain">{texts.declined(props.email)}</Badge>
        )}
      </p>
    </div>
  );
}

/** Sends the decline after ten seconds, or when the page is left before. Closing the tab declines nobody. */
function useDecline(id: string, setState: (state: State) => void) {
  const timer = useRef<number | null>(null);
  const send = useAction(async () => {
    try {
      await post(`/operator/waitlist/${id}/decline`);
      setState('declined');
    } catch (error) {
      setState('waiting');
      throw error;
    }
  });
  const last = useRef(send.run);
  useEffect(() => {
    last.current = send.run;
  });
  function stop(): boolean {
    if (timer.current === null) return false;
    clearTimeout(timer.current);
    timer.current = null;
    return true;
  }
  useEffect(
    () => () => {
      if (stop()) last.current();
    },
    [],
  );
  return {
    error: send.error,
    start: (): void => {
      setState('declining');
      timer.current = window.setTimeout(() => {
        timer.current = null;
        last.current();
      }, UNDO_MS);
    },
    undo: (): void => {
      if (stop()) setState('waiting');
    },
  };
}
