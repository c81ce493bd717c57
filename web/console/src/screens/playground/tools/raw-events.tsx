import { Card, CopyButton } from '../../../design/surfaces.tsx';
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
  if (events.length === 0) return null;
  const lines = events.map(({ atMs, text }) => `${(atMs / 1_000).toFixed(3)}  ${text}`);
  return (
    <Card
      title={texts.events}
      lead={texts.eventsLead}
      aside={<CopyButton text={lines.join('\n')} />}
    >
      <pre
        tabIndex={0}
        role="region"
        aria-label={texts.messages}
        className="code max-h-80 overflow-auto rounded-md p-4 text-xs leading-5"
      >
        {lines.slice(-SHOWN_MAX).join('\n')}
      </pre>
    </Card>
  );
}
