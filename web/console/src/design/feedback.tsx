import type { ReactNode } from 'react';
import { CONSOLE_ERRORS } from '@svc-asr/protocol/console/constants.ts';
import { ConsoleApiError } from '../app/api.ts';
import { explainError } from '../app/explain-error.ts';
import { useTexts } from '../app/language.tsx';
import type { Load } from '../app/use-load.ts';
import { Button } from './controls.tsx';
import { Icon, type IconName } from './icons.tsx';

type Tone = 'info' | 'good' | 'warn' | 'bad';
const TONES: Record<Tone, { look: string; icon: IconName }> = {
  info: { look: 'bg-muted text-ink-2', icon: 'info' },
  good: { look: 'bg-accent-soft text-accent-strong', icon: 'check' },
  warn: { look: 'bg-warn-soft text-warn', icon: 'warning' },
  bad: { look: 'bg-danger-soft text-danger-strong', icon: 'warning' },
};

export function Notice({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={`appear flex gap-2.5 rounded-md px-3.5 py-3 text-sm ${TONES[tone].look}`}
    >
      <span className="mt-px">
        <Icon name={TONES[tone].icon} size={18} />
      </span>
      <div className="min-w-0 grow">{children}</div>
    </div>
  );
}

/** Shows an error in the user's language, with the request id unless the user can fix it. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const texts = useTexts();
  if (error === null) return null;
  const known = error instanceof ConsoleApiError ? error : null;
  return (
    <Notice tone="bad">
      <p>{explainError(error, texts)}</p>
      {known?.requestId && !(known.code in CONSOLE_ERRORS) && (
        <p className="mt-1 font-mono text-xs wrap-break-word">
          {texts.errors.requestId(known.requestId)}
        </p>
      )}
      {onRetry && (
        <Button className="mt-3" onClick={onRetry}>
          {texts.common.retry}
        </Button>
      )}
    </Notice>
  );
}

type BadgeTone = 'good' | 'warn' | 'bad' | 'plain';
const BADGES: Record<BadgeTone, string> = {
  good: 'bg-accent-soft text-accent-strong',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-danger-soft text-danger-strong',
  plain: 'bg-muted text-ink-2',
};

export function Badge({ tone, children }: { tone: BadgeTone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center rounded-full px-2.5 py-0.5 text-xs font-medium whitespace-nowrap ${BADGES[tone]}`}
    >
      {children}
    </span>
  );
}

export function Empty(props: {
  icon: IconName;
  title?: string;
  text: string;
  children?: ReactNode;
}) {
  return (
    <div className="grid justify-items-center gap-2 px-4 py-10 text-center">
      <span className="grid size-12 place-items-center rounded-full bg-accent-soft text-accent">
        <Icon name={props.icon} size={24} />
      </span>
      {props.title !== undefined && <p className="mt-1 font-semibold">{props.title}</p>}
      <p className="max-w-[44ch] text-sm text-ink-2">{props.text}</p>
      {props.children !== undefined && <div className="mt-3">{props.children}</div>}
    </div>
  );
}

/** Placeholder for a card that is loading. */
export function CardSkeleton({ rows }: { rows: number }) {
  return (
    <div className="card grid content-start gap-4 p-5 sm:p-6">
      <div className="skeleton mb-1 h-5 w-36" />
      <RowSkeletons rows={rows} />
    </div>
  );
}

function RowSkeletons({ rows }: { rows: number }) {
  return Array.from({ length: rows }, (_, row) => <div key={row} className="skeleton h-9" />);
}

/** Shows a skeleton while loading, an error with a retry button, or the loaded content. */
export function Loaded<T>(props: {
  load: Load<T>;
  skeleton?: ReactNode;
  onRetry: () => void;
  children: (data: T) => ReactNode;
}) {
  const texts = useTexts();
  switch (props.load.state) {
    case 'loading':
      return (
        <div role="status" className="grid gap-4">
          <span className="sr-only">{texts.common.loading}</span>
          {props.skeleton ?? <RowSkeletons rows={3} />}
        </div>
      );
    case 'error':
      return <ErrorNotice error={props.load.error} onRetry={props.onRetry} />;
    case 'ready':
      return props.children(props.load.data);
  }
}
