import { useId } from 'react';
import { formatAudio, formatExact } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { Button } from '../../design/controls.tsx';
import { CopyButton } from '../../design/surfaces.tsx';
import { download, EXPORTS, textOf, type Exported } from './tools/export-run.ts';
import type { Run } from './run.ts';

/** The smallest reservation. */
const CREDIT_MIN_MS = 1_000;

/** How a run ended, what the ledger charged for it, and what to do with its transcript. */
export function Receipt(props: {
  run: Run;
  /** Which of two runs it is. */
  name?: string | undefined;
  /** Null: this run can't go on. */
  onContinue: (() => void) | null;
}) {
  const { run, onContinue } = props;
  const id = useId();
  const texts = useTexts().playground;
  const isOver = run.phase === 'done' || run.phase === 'failed';
  if (!isOver || (run.ledger === 'unasked' && run.turns.length === 0)) return null;
  const hasCredit = (run.remainingMs ?? 0) >= CREDIT_MIN_MS;
  const isSettled = run.ledger === 'settled';
  const title =
    run.phase === 'failed'
      ? texts.receiptTitles.failed
      : run.ending === 'limit' && isSettled && !hasCredit
        ? texts.receiptTitles.credit
        : texts.receiptTitles[run.ending ?? 'stopped'];
  return (
    <section
      aria-labelledby={id}
      className={`appear grid gap-3 rounded-md px-4 py-3.5 text-sm ${run.phase === 'failed' || run.ending === 'limit' ? 'bg-warn-soft text-warn' : 'bg-accent-soft text-accent-strong'}`}
    >
      <div role="status">
        <h2 id={id} className="font-semibold">
          {props.name === undefined ? title : `${props.name}: ${title}`}
        </h2>
        <LedgerAnswer run={run} />
      </div>
      <div className="flex flex-wrap gap-2 empty:hidden">
        {onContinue !== null && run.ending === 'limit' && isSettled && hasCredit && (
          <Button kind="primary" icon="playground" onClick={onContinue}>
            {texts.continue}
          </Button>
        )}
        <Exports run={exported(run)} rest={run.text} />
      </div>
    </section>
  );
}

/** All of a run, over its sessions. */
export function exported(run: Run): Exported {
  return {
    turns: run.turns,
    model: run.model,
    audioMs: run.earlierMs + run.audioMs,
    chargedMs: run.chargedMs === null ? null : run.earlierChargedMs + run.chargedMs,
  };
}

function LedgerAnswer({ run }: { run: Run }) {
  const texts = useTexts();
  switch (run.ledger) {
    case 'unasked':
      return null;
    case 'asking':
      return <p>{texts.playground.asking}</p>;
    case 'pending':
      return <p>{texts.playground.pending}</p>;
    case 'settled': {
      const { audioMs, chargedMs } = exported(run);
      return (
        <p>
          {texts.playground.receipt(
            formatExact(audioMs, texts),
            formatAudio(chargedMs ?? 0, texts),
            formatAudio(run.remainingMs ?? 0, texts),
          )}
        </p>
      );
    }
  }
}

export function Exports(props: {
  run: Exported;
  /** Words of a line that the run lost before its end. They have no times, so that only a copy has them. */
  rest?: string;
}) {
  const texts = useTexts().playground;
  const { run, rest = '' } = props;
  const copied = [textOf(run.turns), rest].filter((line) => line !== '').join('\n');
  if (copied === '') return null;
  const formats = run.turns.length === 0 ? [] : EXPORTS;
  return (
    <>
      <CopyButton text={copied} />
      {formats.map((format) => (
        <Button
          key={format}
          aria-label={texts.downloadAs(format.toUpperCase())}
          onClick={() => download(format, run)}
        >
          {format.toUpperCase()}
        </Button>
      ))}
    </>
  );
}
