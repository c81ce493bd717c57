import { CopyButton } from '../../../design/surfaces.tsx';
import { usePlaygroundTexts } from '../../../texts/playground.ts';

/** A message of the stream, and when it arrived. */
export interface RawEvent {
  readonly atMs: number;
  readonly text: string;
}

/** More than a session of five minutes sends. The oldest are dropped. */
export const RAW_EVENTS_MAX = 2_000;
const SHOWN_MAX = 200;

/** The messages of the run as the service sent them. */
export function RawEvents({ events }: { events: readonly RawEvent[] }) {
  const texts = usePlaygroundTexts();
  if (events.length === 0) return <p className="text-sm text-ink-2">{texts.eventsNone}</p>;
  const lines = events.map(({ atMs, text }) => `${(atMs / 1_000).toFixed(3)}  ${text}`);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <p className="max-w-[68ch] text-sm text-ink-2">{texts.eventsLead}</p>
        <CopyButton text={lines.join('\n')} />
      </div>
      <pre
        tabIndex={0}
        role="region"
        aria-label={texts.messages}
        className="code max-h-112 overflow-auto rounded-md p-4 text-xs leading-5"
      >
        {lines.slice(-SHOWN_MAX).join('\n')}
      </pre>
    </div>
  );
}
