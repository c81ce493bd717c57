import { formatAudio } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import type { Run } from './run.ts';

export function Figures({ run }: { run: Run }) {
  const texts = useTexts();
  const none = texts.playground.noneYet;
  const started = run.phase !== 'idle';
  const charged = Math.max(run.billableMs, Math.ceil(run.audioMs / 1_000) * 1_000);
  const free = run.phase === 'failed' && run.audioMs === 0;
  const figures = [
    {
      name: texts.playground.latency,
      value: run.latencyMs === null ? none : `${Math.round(run.latencyMs)} ms`,
      hint: texts.playground.latencyHint,
    },
    { name: texts.playground.audio, value: started ? formatAudio(run.audioMs, texts) : none },
    {
      name: texts.playground.cost,
      value: !started ? none : free ? texts.playground.notCharged : formatAudio(charged, texts),
    },
    {
      name: texts.playground.left,
      value: run.remainingMs === null ? none : formatAudio(run.remainingMs, texts),
    },
  ];
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md bg-line ring-1 ring-line sm:grid-cols-4">
      {figures.map((figure) => (
        <div key={figure.name} className="bg-surface px-4 py-3" title={figure.hint}>
          <dt className="text-xs text-ink-3">{figure.name}</dt>
          <dd className="mt-0.5 font-semibold whitespace-nowrap tabular-nums">{figure.value}</dd>
        </div>
      ))}
    </dl>
  );
}
