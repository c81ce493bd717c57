import { useEffect } from 'react';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import { Button } from '../design/controls.tsx';
import { Icon } from '../design/icons.tsx';
import { get } from '../app/api.ts';
import { useConnection } from '../app/connection.ts';
import { formatTime } from '../app/format.ts';
import { useLanguage, useTexts } from '../app/language.tsx';
import { useAction } from '../app/use-action.ts';

const PROBE_MS = 5_000;

/** Says that the figures on the screen are old, and asks the server again until it answers. */
export function ConnectionBar() {
  const texts = useTexts().connection;
  const { language } = useLanguage();
  const { trouble, figuresAt } = useConnection();
  const probe = useAction(async () => {
    // Any answer ends the outage. Every screen then loads its data again.
    await get<Me>('/me').catch(() => null);
  });
  useEffect(() => {
    if (trouble === null) return undefined;
    const ask = () => void get<Me>('/me').catch(() => null);
    const timer = setInterval(() => {
      if (!document.hidden) ask();
    }, PROBE_MS);
    addEventListener('online', ask);
    return () => {
      clearInterval(timer);
      removeEventListener('online', ask);
    };
  }, [trouble]);
  const shown = trouble !== null && figuresAt !== null;
  return (
    <div role="status" className="sticky top-0 z-10">
      {shown && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn sm:px-8">
          <Icon name="warning" size={18} />
          <p className="min-w-0 grow basis-48">
            {texts[trouble]} {texts.figuresFrom(formatTime(figuresAt, language))}
          </p>
          <Button busy={probe.busy} onClick={() => probe.run()}>
            {texts.retry}
          </Button>
        </div>
      )}
    </div>
  );
}
