import type { Overview } from '@svc-asr/protocol/console/console.ts';
import { formatAudio, formatFigure } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { Notice } from '../../design/feedback.tsx';

type Balance = Pick<Overview, 'available_ms' | 'reserved_ms' | 'consumed_ms'>;

/** All granted credit as one bar: available, reserved and consumed. */
export function CreditGauge({ balance }: { balance: Balance }) {
  const texts = useTexts();
  const parts = [
    { name: texts.overview.available, ms: balance.available_ms, look: 'bg-accent' },
    { name: texts.overview.reserved, ms: balance.reserved_ms, look: 'bg-second' },
    { name: texts.overview.consumed, ms: balance.consumed_ms, look: 'bg-edge' },
  ];
  const total = Math.max(
    1,
    parts.reduce((sum, part) => sum + part.ms, 0),
  );
  const [available, reserved, consumed] = parts.map((part) => formatAudio(part.ms, texts));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <p>
        <span className="text-[1.75rem] leading-9 font-semibold tracking-tight tabular-nums">
          {formatFigure(balance.available_ms, texts)}
        </span>{' '}
        <span className="text-ink-2">{texts.overview.available.toLowerCase()}</span>
      </p>
      <div
        role="img"
        aria-label={texts.overview.gauge(available ?? '', reserved ?? '', consumed ?? '')}
        className="flex h-3 gap-0.5 overflow-hidden rounded-full bg-muted"
      >
        {parts.map(
          (part) =>
            part.ms > 0 && (
              <div
                key={part.name}
                className={part.look}
                style={{ width: `${(part.ms / total) * 100}%`, minWidth: 4 }}
              />
            ),
        )}
      </div>
      <dl className="grid gap-3 text-sm">
        {parts.map((part) => (
          <div key={part.name} className="flex justify-between gap-4">
            <dt className="flex items-center gap-2 text-ink-2">
              <span aria-hidden="true" className={`size-2.5 rounded-full ${part.look}`} />
              {part.name}
            </dt>
            <dd className="font-semibold tabular-nums">{formatAudio(part.ms, texts)}</dd>
          </div>
        ))}
      </dl>
      {/* The page itself says loudly that no credit is left. */}
      {balance.available_ms >= 1_000 && balance.available_ms < 60_000 ? (
        <Notice tone="warn">{texts.overview.low}</Notice>
      ) : (
        <p className="text-xs text-ink-3">{texts.overview.creditHint}</p>
      )}
    </div>
  );
}
