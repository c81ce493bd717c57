import { useTexts } from '../../app/language.tsx';
import { formatClock } from '../../app/format.ts';
import { usedMs, type Run } from './run.ts';

/** "0:28 / 0:30". Yellow in the last fifth. */
export function Clock({ run, limitMs }: { run: Run; limitMs: number }) {
  const texts = useTexts().playground;
  const total = run.reservedMs === 0 ? limitMs : run.reservedMs;
  const used = usedMs(run);
  const isLast = run.reservedMs > 0 && used >= total * 0.8;
  return (
    <p
      data-testid="clock"
      data-last={isLast}
      className={`rounded-sm px-2 py-0.5 font-mono text-sm whitespace-nowrap tabular-nums ${isLast ? 'bg-warn-soft font-semibold text-warn' : 'text-ink-2'}`}
    >
      <span className="sr-only">{texts.clock} </span>
      {formatClock(used)} / {formatClock(total)}
    </p>
  );
}
