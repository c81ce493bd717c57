import { useState, type CSSProperties, type KeyboardEvent, type PointerEvent } from 'react';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { formatAudio, LOCALES } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import type { Texts } from '../../texts/en.ts';
import { axisTop, type DayTotals } from './days.ts';

const FILL: Record<ModelId, string> = {
  'svc-asr-kikuyu-v1': 'fill-accent',
  'svc-asr-dholuo-v1': 'fill-second',
};
const DOT: Record<ModelId, string> = {
  'svc-asr-kikuyu-v1': 'bg-accent',
  'svc-asr-dholuo-v1': 'bg-second',
};
const HEIGHT = 100;
const DAY_WIDTH = 10;

interface Labelled {
  readonly days: DayTotals[];
  readonly label: (day: DayTotals | undefined) => string;
}

/** Usage as stacked bars or as a table. */
export function UsageChart({ days }: { days: DayTotals[] }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const [asTable, setAsTable] = useState(false);
  const short = new Intl.DateTimeFormat(LOCALES[language], {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  const label = (day: DayTotals | undefined) =>
    day === undefined ? '' : short.format(new Date(day.date));
  return (
    <figure>
      <Legend days={days} />
      <div className="mt-4 h-58">
        {asTable ? (
          <UsageTable days={days} label={label} />
        ) : (
          <UsageBars days={days} label={label} />
        )}
      </div>
      <button
        type="button"
        className="mt-4 rounded-sm text-sm text-ink-2 underline underline-offset-4 hover:text-ink print:hidden"
        onClick={() => setAsTable(!asTable)}
      >
        {asTable ? texts.overview.asChart : texts.overview.asTable}
      </button>
    </figure>
  );
}

/** Stacked bars. Pointing, tapping and the arrow keys choose a day, whose values are shown above it. */
function UsageBars({ days, label }: Labelled) {
  const texts = useTexts();
  const [at, setAt] = useState<number | null>(null);
  const top = axisTop(Math.max(...days.map((day) => day.totalMs)));
  const last = days.length - 1;
  const chosen = at === null ? undefined : days[Math.min(at, last)];
  function point(event: PointerEvent<HTMLElement>): void {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - left) / width) * days.length);
    setAt(Math.max(0, Math.min(last, index)));
  }
  function onKey(event: KeyboardEvent): void {
    const now = at ?? last;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') setAt(null);
    if (next === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(last, next)));
  }
  return (
    <div className="grid grid-cols-[auto_1fr] gap-x-3 pt-2">
      <div className="flex flex-col justify-between text-right text-xs text-ink-3 tabular-nums">
        <span className="-mt-2">{formatAudio(top, texts)}</span>
        <span>{formatAudio(top / 2, texts)}</span>
        <span className="-mb-2">0</span>
      </div>
      <div
        role="slider"
        tabIndex={0}
        aria-label={texts.overview.perDay}
        aria-valuemin={1}
        aria-valuemax={days.length}
        aria-valuenow={(at ?? last) + 1}
        aria-valuetext={describe(chosen ?? days.at(-1), { texts, label })}
        className="relative touch-pan-y rounded-sm"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setAt(null)}
        onFocus={() => setAt((now) => now ?? last)}
        onBlur={() => setAt(null)}
        onKeyDown={onKey}
      >
        <svg
          aria-hidden="true"
          viewBox={`0 0 ${days.length * DAY_WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-48 w-full overflow-visible"
        >
          {[0, 0.5, 1].map((part) => (
            <line
              key={part}
              x1="0"
              x2={days.length * DAY_WIDTH}
              y1={HEIGHT * part}
              y2={HEIGHT * part}
              vectorEffect="non-scaling-stroke"
              className="stroke-line"
            />
          ))}
          {days.map((day, index) => (
            <Bar
              key={day.date}
              day={day}
              x={index * DAY_WIDTH}
              top={top}
              isFaded={chosen !== undefined && day !== chosen}
            />
          ))}
        </svg>
        {chosen !== undefined && (
          <p
            data-testid="day-values"
            className="pointer-events-none absolute bottom-full mb-1 w-max max-w-[calc(100vw-6rem)] rounded-md bg-ink px-3 py-2 text-xs text-paper"
            style={placeOf(days.indexOf(chosen), days.length)}
          >
            <strong>{label(chosen)}</strong> · {formatAudio(chosen.totalMs, texts)}
            <br />
            {MODEL_IDS.map(
              (model) =>
                `${texts.common.models[model]} ${formatAudio(chosen.byModel[model], texts)}`,
            ).join(' · ')}
          </p>
        )}
      </div>
      <span />
      <div className="mt-2 flex justify-between text-xs text-ink-3">
        <span>{label(days[0])}</span>
        <span className="max-sm:hidden">{label(days[Math.floor(days.length / 2)])}</span>
        <span>{label(days.at(-1))}</span>
      </div>
    </div>
  );
}

/** Above its bar. In the right half it ends there, so that it stays inside the card. */
function placeOf(index: number, count: number): CSSProperties {
  const isLeft = index < count / 2;
  return isLeft
    ? { left: `${(index / count) * 100}%` }
    : { right: `${((count - 1 - index) / count) * 100}%` };
}

function describe(
  day: DayTotals | undefined,
  { texts, label }: { texts: Texts; label: Labelled['label'] },
): string {
  if (day === undefined) return '';
  const models = MODEL_IDS.map(
    (model) => `${texts.common.models[model]} ${formatAudio(day.byModel[model], texts)}`,
  );
  return [`${label(day)}: ${formatAudio(day.totalMs, texts)}`, ...models].join(', ');
}

function Bar(props: { day: DayTotals; x: number; top: number; isFaded: boolean }) {
  const { day, x, top } = props;
  let base = HEIGHT;
  return (
    <g className={props.isFaded ? 'opacity-50' : ''}>
      {MODEL_IDS.map((model) => {
        const height = (day.byModel[model] / top) * HEIGHT;
        base -= height;
        return (
          <rect
            key={model}
            x={x + 1.6}
            y={base}
            width={DAY_WIDTH - 3.2}
            height={height}
            className={FILL[model]}
          />
        );
      })}
    </g>
  );
}

function Legend({ days }: { days: DayTotals[] }) {
  const texts = useTexts();
  return (
    <ul className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
      {MODEL_IDS.map((model) => (
        <li key={model} className="flex items-center gap-2">
          <span aria-hidden="true" className={`size-2.5 rounded-full ${DOT[model]}`} />
          {texts.common.models[model]}
          <span className="text-ink-3 tabular-nums">
            {formatAudio(
              days.reduce((sum, day) => sum + day.byModel[model], 0),
              texts,
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function UsageTable({ days, label }: Labelled) {
  const texts = useTexts();
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={texts.overview.perDay}
      className="h-full overflow-y-auto rounded-sm"
    >
      <table className="w-full text-left text-sm tabular-nums">
        <thead className="sticky top-0 bg-surface text-xs text-ink-3">
          <tr>
            <th className="py-1.5 font-medium">{texts.overview.day}</th>
            {MODEL_IDS.map((model) => (
              <th key={model} className="py-1.5 pr-2 text-right font-medium">
                {texts.common.models[model]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days
            .filter((day) => day.totalMs > 0)
            .toReversed()
            .map((day) => (
              <tr key={day.date} className="border-t border-line">
                <td className="py-1.5">{label(day)}</td>
                {MODEL_IDS.map((model) => (
                  <td key={model} className="py-1.5 pr-2 text-right">
                    {formatAudio(day.byModel[model], texts)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
