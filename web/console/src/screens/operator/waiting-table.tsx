import { use, useEffect, useRef, useState } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { Decisions, WaitlistEntry } from '@svc-asr/protocol/console/operator.ts';
import { post } from '../../app/api.ts';
import { formatDate } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { withConfirmation } from '../../app/passkeys.ts';
import { useAction } from '../../app/use-action.ts';
import { Button, TextField } from '../../design/controls.tsx';
import { Badge, ErrorNotice } from '../../design/feedback.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { Waiting } from './operator-page.tsx';
import { DataTable } from './parts/data-table.tsx';
import { MinutesField, parseMinutes } from './parts/minutes-field.tsx';
import { useDeclines } from './parts/use-declines.ts';

const MINUTES_DEFAULT = '60';
const SMALL = 'px-3 md:min-h-8 md:py-1';

type State = 'approved' | 'declining' | 'declined';

/** Decides about people who wait, one by one or several at once. Decided rows stay where they are. */
export function WaitingTable({ entries }: { entries: WaitlistEntry[] }) {
  const texts = useOperatorTexts().waitlist;
  const common = useTexts();
  const { language } = useLanguage();
  const desk = useDesk(entries);
  return (
    <div className="grid gap-4">
      <Toolbar desk={desk} />
      <DataTable
        label={texts.states.waiting}
        rows={entries}
        idOf={({ id }) => id}
        isFaded={({ id }) => desk.states.has(id)}
        columns={[
          {
            name: texts.email,
            isTitle: true,
            cell: ({ id, email }) => (
              <label className="flex items-baseline gap-2.5 xl:min-w-52">
                <input
                  type="checkbox"
                  aria-label={texts.selectNamed(email)}
                  className="size-4 shrink-0 translate-y-0.5 accent-accent"
                  disabled={desk.states.has(id)}
                  checked={desk.selected.has(id)}
                  onChange={() => desk.toggle(id)}
                />
                <span className="min-w-0 font-medium wrap-anywhere">{email}</span>
              </label>
            ),
          },
          {
            name: texts.useCase,
            isLong: true,
            cell: ({ use_case }) => (
              <span className="line-clamp-3 text-ink-2" title={use_case}>
                {use_case === '' ? texts.noUse : use_case}
              </span>
            ),
          },
          {
            name: texts.joined,
            cell: ({ joined_at }) => (
              <span className="whitespace-nowrap">{formatDate(joined_at, language)}</span>
            ),
          },
          {
            name: texts.decision,
            isBare: true,
            isNumber: true,
            cell: (entry) => <Decision entry={entry} desk={desk} />,
          },
        ]}
      />
      {desk.problems.size > 0 && (
        <div
          role="alert"
          className="rounded-md bg-danger-soft px-3.5 py-3 text-sm text-danger-strong"
        >
          <p>{texts.refused(desk.problems.size)}</p>
          <ul className="mt-1 list-disc pl-5">
            {entries.flatMap(({ id, email }) => {
              const code = desk.problems.get(id);
              return code === undefined
                ? []
                : [
                    <li key={id} className="wrap-anywhere">
                      {email}: {common.errors.codes[code] ?? code}
                    </li>,
                  ];
            })}
          </ul>
        </div>
      )}
    </div>
  );
}

/** Selection, amount, reason and the state of every row. */
function useDesk(entries: readonly WaitlistEntry[]) {
  const texts = useOperatorTexts().waitlist;
  const { onDecided } = use(Waiting);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [states, setStates] = useState<ReadonlyMap<string, State>>(new Map());
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [minutes, setMinutes] = useState(MINUTES_DEFAULT);
  const [reason, setReason] = useState('');
  const [says, setSays] = useState('');
  const [declineError, setDeclineError] = useState<unknown>(null);
  function mark(ids: readonly string[], state: State | null): void {
    setStates((before) => {
      const now = new Map(before);
      for (const id of ids)
        if (state === null) now.delete(id);
        else now.set(id, state);
      return now;
    });
    setSelected((before) => new Set([...before].filter((id) => !ids.includes(id))));
  }
  function take(decisions: Decisions, state: 'approved' | 'declined'): number {
    const done = decisions.data.filter(({ outcome }) => outcome === 'done').map(({ id }) => id);
    const refused = decisions.data.filter(({ outcome }) => outcome !== 'done');
    mark(done, state);
    mark(
      refused.map(({ id }) => id),
      null,
    );
    setProblems(new Map(refused.map(({ id, outcome }) => [id, outcome])));
    void onDecided();
    return done.length;
  }
  const declines = useDeclines({
    sent: (decisions) => void take(decisions, 'declined'),
    failed: (ids, error) => {
      mark(ids, null);
      setDeclineError(error);
    },
  });
  const amount = parseMinutes(minutes);
  const declining = [...states.values()].filter((state) => state === 'declining').length;
  const approve = useAction(async (ids: readonly string[]) => {
    setProblems(new Map());
    const body = { ids, credit_minutes: amount, reason: reason.trim() };
    const path = '/operator/waitlist/approve';
    const count = take(await withConfirmation(() => post<Decisions>(path, body)), 'approved');
    setSays(count === 0 ? '' : texts.approved(count));
  });
  return {
    entries,
    selected,
    states,
    problems,
    minutes,
    setMinutes,
    reason,
    setReason,
    // Only while it can be undone.
    says: declining === 0 ? says : [says, texts.declined(declining)].join(' ').trim(),
    approve,
    canApprove: amount !== null,
    error: approve.error ?? declineError,
    toggle: (id: string): void =>
      setSelected((before) =>
        before.has(id)
          ? new Set([...before].filter((other) => other !== id))
          : new Set([...before, id]),
      ),
    select: (ids: readonly string[]): void => setSelected(new Set(ids)),
    decline: (ids: readonly string[]): void => {
      setDeclineError(null);
      mark(ids, 'declining');
      declines.start(ids, reason.trim());
      setSays('');
    },
    undo: (id: string): void => {
      declines.undo(id);
      mark([id], null);
      setSays('');
    },
  };
}
type Desk = ReturnType<typeof useDesk>;

function Toolbar({ desk }: { desk: Desk }) {
  const texts = useOperatorTexts();
  const said = useRef<HTMLParagraphElement>(null);
  const ids = [...desk.selected];
  const open = desk.entries.filter(({ id }) => !desk.states.has(id)).map(({ id }) => id);
  const isAll = open.length > 0 && ids.length === open.length;
  return (
    <div className="grid gap-4 border-b border-line pb-4">
      <div className="grid grid-cols-[7.5rem_minmax(0,1fr)] items-start gap-4 sm:grid-cols-[9rem_minmax(0,1fr)]">
        <MinutesField value={desk.minutes} onChange={desk.setMinutes} />
        <TextField
          label={texts.reasonOptional}
          maxLength={CONSOLE_LIMITS.reasonLength}
          value={desk.reason}
          onChange={desk.setReason}
        />
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <label className="flex items-center gap-2.5 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            disabled={open.length === 0}
            checked={isAll}
            onChange={() => desk.select(isAll ? [] : open)}
          />
          {texts.waitlist.selectAll}
        </label>
        <p
          ref={said}
          role="status"
          tabIndex={-1}
          className="min-w-0 grow basis-56 text-sm text-accent-strong outline-none max-md:order-last max-md:basis-full"
        >
          {desk.says}
        </p>
        <div className="flex gap-2 max-md:basis-full max-md:*:flex-1 max-md:*:px-2">
          <Button
            kind="danger"
            disabled={ids.length === 0}
            onClick={() => {
              desk.decline(ids);
              said.current?.focus();
            }}
          >
            {texts.waitlist.declineSelected(ids.length)}
          </Button>
          <Button
            kind="primary"
            busy={desk.approve.busy}
            disabled={ids.length === 0 || !desk.canApprove}
            onClick={() => {
              desk.approve.run(ids);
              said.current?.focus();
            }}
          >
            {texts.waitlist.approveSelected(ids.length)}
          </Button>
        </div>
      </div>
      <ErrorNotice error={desk.error} />
    </div>
  );
}

/** The buttons of a row, or what was decided, in the same place and of the same height. */
function Decision({ entry, desk }: { entry: WaitlistEntry; desk: Desk }) {
  const texts = useOperatorTexts().waitlist;
  const state = desk.states.get(entry.id);
  return (
    <div className="flex min-h-10 items-center gap-2 md:min-h-8 md:justify-end">
      {state === undefined ? (
        <>
          <Button
            kind="quiet"
            className={`text-danger ${SMALL}`}
            onClick={() => desk.decline([entry.id])}
          >
            {texts.decline}
            <span className="sr-only">{entry.email}</span>
          </Button>
          <Button
            className={SMALL}
            disabled={!desk.canApprove}
            onClick={() => desk.approve.run([entry.id])}
          >
            {texts.approve}
            <span className="sr-only">{entry.email}</span>
          </Button>
        </>
      ) : (
        <Decided state={state} email={entry.email} onUndo={() => desk.undo(entry.id)} />
      )}
    </div>
  );
}

/** Has the focus if the button that was pressed is gone. */
function Decided(props: { state: State; email: string; onUndo: () => void }) {
  const texts = useOperatorTexts().waitlist;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) place.current?.focus();
  }, []);
  return (
    <div ref={place} tabIndex={-1} className="flex items-center gap-2 rounded-sm outline-offset-4">
      {props.state === 'declining' && (
        <Button className={SMALL} onClick={props.onUndo}>
          {texts.undo}
          <span className="sr-only">{props.email}</span>
        </Button>
      )}
      <Badge tone={props.state === 'approved' ? 'good' : 'plain'}>
        {props.state === 'approved' ? texts.approvedRow : texts.declinedRow}
      </Badge>
    </div>
  );
}
