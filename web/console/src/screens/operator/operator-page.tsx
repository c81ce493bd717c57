import { createContext, use, useEffect, useRef, type ReactNode } from 'react';
import { ConsoleApiError } from '../../app/api.ts';
import { Link } from '../../app/router.tsx';
import type { Load } from '../../app/use-load.ts';
import { Badge, Loaded, Notice } from '../../design/feedback.tsx';
import { PageHead } from '../../design/surfaces.tsx';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import { useOperatorTexts } from '../../texts/operator.ts';
import { OPERATOR_PATHS, OPERATOR_PLACES, type OperatorPlace } from './paths.ts';

/** What waits for operators, for the badges of the tabs, and what a decision calls to count again. */
export const Waiting = createContext<{ counts: Me['waiting']; onDecided: () => Promise<void> }>({
  counts: null,
  onDecided: () => Promise.resolve(),
});

/** The head of a page with the links to the others. */
export function OperatorPage<T>(props: {
  place: OperatorPlace;
  lead: string;
  aside?: ReactNode;
  load: Load<T>;
  onRetry: () => void;
  children: (data: T) => ReactNode;
}) {
  const texts = useOperatorTexts();
  const { load } = props;
  return (
    <>
      <PageHead title={texts.tabs[props.place]} lead={props.lead}>
        {props.aside}
      </PageHead>
      <Tabs place={props.place} />
      {load.state === 'error' && needsPasskey(load.error) ? (
        <Notice tone="info">
          {texts.passkeyFirst}{' '}
          <Link href="/app/settings" className="underline underline-offset-4">
            {texts.passkeyLink}
          </Link>
        </Notice>
      ) : (
        <Loaded load={load} onRetry={props.onRetry}>
          {props.children}
        </Loaded>
      )}
    </>
  );
}

function needsPasskey(error: unknown): boolean {
  return error instanceof ConsoleApiError && error.code === 'passkey_required';
}

/** Scrolls sideways on narrow screens, where the current page is in view and fading tabs show that there are more. */
function Tabs({ place }: { place: OperatorPlace }) {
  const texts = useOperatorTexts();
  const waiting: Partial<Record<OperatorPlace, number>> = use(Waiting).counts ?? {};
  const current = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    current.current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, []);
  return (
    <nav
      aria-label={texts.area}
      className="mb-5 flex gap-5 overflow-x-auto border-b border-line [mask-image:linear-gradient(to_left,transparent,#000_2rem)] pr-8 text-sm whitespace-nowrap"
    >
      {OPERATOR_PLACES.map((known) => (
        <Link
          key={known}
          href={OPERATOR_PATHS[known]}
          {...(known === place ? { 'aria-current': 'page' as const } : {})}
          className="border-b-2 border-transparent px-1 py-2.5 text-ink-2 -outline-offset-2 hover:text-ink aria-[current]:border-accent aria-[current]:font-semibold aria-[current]:text-ink"
        >
          <span ref={known === place ? current : null}>{texts.tabs[known]}</span>{' '}
          {(waiting[known] ?? 0) > 0 && <Badge tone="warn">{waiting[known]}</Badge>}
        </Link>
      ))}
    </nav>
  );
}
