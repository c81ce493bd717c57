import type { ReactNode } from 'react';
import { useSessionTexts } from '../../texts/sessions.ts';

/** On phones the filters open on demand, so that the list is on the first screen. */
const WIDE = matchMedia('(min-width: 48rem)');

/** The filters of a list. They stay open while one is set. */
export function FilterCard(props: { isFiltered: boolean; children: ReactNode }) {
  const texts = useSessionTexts();
  return (
    <details className="card p-5 sm:p-6" open={WIDE.matches || props.isFiltered}>
      <summary className="rounded-sm font-medium">{texts.filters}</summary>
      <div className="mt-4">{props.children}</div>
    </details>
  );
}
