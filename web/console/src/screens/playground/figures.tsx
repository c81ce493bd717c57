import { formatFigure } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { estimateMs, isRunning, leftMs, type Run } from './run.ts';

export function Figures({ run }: { run: Run }) {
  const texts = useTexts();
  const { playground } = texts;
  const none = playground.noneYet;
  const started = run.phase !== 'idle';
  const left = leftMs(run);
  const figures = [
    run.source === 'file'
      ? {
          name: playground.speed,
          value: run.speed === null ? none : playground.times(run.speed.toFixed(1)),
          hint: playground.speedHint,
        }
      : {
          name: playground.age,
          value:
            run.ages === null
              ? none
              : `${seconds(run.ages.p50Ms)} / ${playground.secondsOf(seconds(run.ages.p95Ms))}`,
          hint: playground.ageHint,
        },
    {
      name: playground.audio,
      value: started ? formatFigure(run.earlierMs + run.audioMs, texts) : none,
    },
    { name: isRunning(run) ? playground.costSoFar : playground.cost, value: charge() },
    {
      name: playground.left,
      value: left === null ? none : formatFigure(left, texts),
    },
  ];
  function charge(): string {
    if (!started) return none;
    if (isRunning(run)) return formatFigure(estimateMs(run), texts);
    if (run.chargedMs === null) return none;
    const chargedMs = run.earlierChargedMs + run.chargedMs;
    return chargedMs === 0 ? playground.notCharged : formatFigure(chargedMs, texts);
  }
  return (
    <div className="@container">
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md bg-line ring-1 ring-line @lg:grid-cols-4">
        {figures.map((figure) => (
          <div key={figure.name} className="bg-surface px-4 py-3" title={figure.hint}>
            <dt className="text-xs text-ink-3">{figure.name}</dt>
            <dd className="mt-0.5 font-semibold tabular-nums">{figure.value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
