import type { LedgerLine } from '@svc-asr/protocol/console/sessions.ts';
import { formatDateTime, LOCALES, numberFormat } from '../../app/format.ts';
import { useLanguage } from '../../app/language.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';
import { FigureTable } from './figure-table.tsx';

/** The transactions of a session, in milliseconds, as the ledger has them. */
export function LedgerTable({ lines }: { lines: LedgerLine[] }) {
  const texts = useSessionTexts();
  const { language } = useLanguage();
  const number = new Intl.NumberFormat(LOCALES[language], { signDisplay: 'exceptZero' });
  const plain = numberFormat(language);
  const { columns } = texts;
  return (
    <FigureTable
      label={texts.ledger}
      names={[columns.what, columns.when]}
      figures={[
        columns.number,
        ...[columns.available, columns.reserved, columns.consumed, columns.left].map(
          (name) => `${name} (ms)`,
        ),
      ]}
      rows={lines.map((line) => ({
        id: String(line.seq),
        names: [texts.kinds[line.kind] ?? line.kind, formatDateTime(line.at, language)],
        figures: [
          String(line.seq),
          number.format(line.available_ms),
          number.format(line.reserved_ms),
          number.format(line.consumed_ms),
          plain.format(line.available_after_ms),
        ],
      }))}
    />
  );
}
