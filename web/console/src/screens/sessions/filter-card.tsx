import type { ReactNode } from 'react';
import { useSessionTexts } from '../../texts/sessions.ts';

/** On phones the filters open on demand, so that the list is on the first screen. */
const WIDE = matchMedia('(min-width: 48rem)');

/** The filters of a list, and how many are set. A search closes them on phones, where they would hide its result. */
export function FilterCard(props: {
  search: URLSearchParams;
  filters: readonly string[];
  children: ReactNode;
}) {
  const texts = useSessionTexts();
  const set = props.filters.filter((filter) => props.search.has(filter)).length;
  return (
    <details key={String(props.search)} className="card p-5 sm:p-6" open={WIDE.matches}>
      <summary className="rounded-sm font-medium">
        {set === 0 ? texts.filters : texts.filtersSet(set)}
      </summary>
      <div className="mt-4">{props.children}</div>
    </details>
  );
}
