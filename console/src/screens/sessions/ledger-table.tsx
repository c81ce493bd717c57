import type { LedgerLine } from '@svc-asr/protocol/console-sessions.ts';
import { formatDateTime } from '../../app/format.ts';
import { useLanguage } from '../../app/language.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';

/** The transactions of a session, in milliseconds, as the ledger has them. */
export function LedgerTable({ lines }: { lines: LedgerLine[] }) {
  const texts = useSessionTexts();
  const { language } = useLanguage();
  const number = new Intl.NumberFormat(language, { signDisplay: 'exceptZero' });
  const plain = new Intl.NumberFormat(language);
  const { columns } = texts;
  return (
    <div tabIndex={0} role="region" aria-label={texts.ledger} className="overflow-x-auto">
      <table className="w-full text-left text-sm whitespace-nowrap">
        <thead className="text-xs text-ink-3">
          <tr className="[&>th]:pb-2 [&>th]:font-medium [&>th+th]:pl-5">
            <th>{columns.number}</th>
            <th>{columns.what}</th>
            <th>{columns.when}</th>
            <th className="text-right">{columns.available} (ms)</th>
            <th className="text-right">{columns.reserved} (ms)</th>
            <th className="text-right">{columns.consumed} (ms)</th>
            <th className="text-right">{columns.left} (ms)</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr
              key={line.seq}
              className="border-t border-line tabular-nums [&>td]:py-2 [&>td+td]:pl-5"
            >
              <td>{line.seq}</td>
              <td>{texts.kinds[line.kind] ?? line.kind}</td>
              <td>{formatDateTime(line.at, language)}</td>
              <td className="text-right">{number.format(line.available_ms)}</td>
              <td className="text-right">{number.format(line.reserved_ms)}</td>
              <td className="text-right">{number.format(line.consumed_ms)}</td>
              <td className="text-right">{plain.format(line.available_after_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
