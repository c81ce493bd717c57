import type { SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import { formatExact } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';
import { explainCharge } from '../overview/explain-charge.ts';
import { LedgerTable } from './ledger-table.tsx';

/** Adds the charge up to the millisecond, from accepted audio to the price. */
export function ReceiptLines({ session }: { session: SessionReport }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { audio_ms, billable_ms } = session;
  const differenceMs = billable_ms - audio_ms;
  const isOver = session.completed_at !== null;
  const format = (ms: number) => formatExact(ms, common);
  const lines = [
    [texts.accepted, format(audio_ms)],
    ...(isOver && differenceMs > 0 ? [[texts.rounded, `+ ${format(differenceMs)}`]] : []),
    ...(isOver && differenceMs < 0 ? [[texts.forFree, `− ${format(-differenceMs)}`]] : []),
  ] as const;
  return (
    <>
      <p className="mb-3 max-w-[68ch] text-sm text-ink-2">{explainCharge(session, common)}</p>
      <dl className="divide-y divide-line border-y border-line text-sm tabular-nums [&>div]:flex [&>div]:justify-between [&>div]:gap-4 [&>div]:py-2.5">
        {lines.map(([name, figure]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="whitespace-nowrap">{figure}</dd>
          </div>
        ))}
        <div className="font-semibold">
          <dt>{isOver ? texts.charged : texts.chargedLater}</dt>
          <dd className="whitespace-nowrap">
            {isOver ? format(billable_ms) : common.playground.noneYet}
          </dd>
        </div>
      </dl>
      <details className="mt-4">
        <summary className="w-fit rounded-sm text-sm underline underline-offset-4">
          {texts.ledger}
        </summary>
        <div className="mt-4">
          <LedgerTable lines={session.transactions} />
        </div>
      </details>
    </>
  );
}
