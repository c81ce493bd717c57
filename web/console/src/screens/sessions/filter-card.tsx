import type { ReactNode } from 'react';
import { Link } from '../../app/router.tsx';
import { Icon } from '../../design/icons.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';

/** On narrow screens the filters open on demand, so that the list is on the first screen. */
const WIDE = matchMedia('(min-width: 80rem)');

/** The filters of a list. A search closes them on narrow screens, where they would hide its result. Those set are chips. */
export function FilterCard<F extends string>(props: {
  path: string;
  search: URLSearchParams;
  filters: readonly F[];
  /** What a filter says, such as "Status: Failed". */
  describe: (filter: F, value: string) => string;
  children: ReactNode;
}) {
  const texts = useSessionTexts();
  const { path, search, filters, describe } = props;
  const set = filters.filter((filter) => search.has(filter));
  return (
    <div className="card p-5 sm:p-6">
      <details key={String(search)} open={WIDE.matches}>
        <summary className="rounded-sm font-medium">
          {set.length === 0 ? texts.filters : texts.filtersSet(set.length)}
        </summary>
        <div className="mt-4">{props.children}</div>
      </details>
      {set.length > 0 && (
        <ul className="mt-4 flex flex-wrap gap-2">
          {set.map((filter) => (
            <li key={filter} className="max-w-full">
              <Link
                href={without(path, search, filter)}
                title={texts.removeFilter}
                className="inline-flex min-h-9 max-w-full items-center gap-1.5 rounded-full bg-accent-soft px-4 py-1 text-sm text-accent-strong hover:bg-muted"
              >
                <span className="wrap-anywhere">{describe(filter, search.get(filter) ?? '')}</span>
                <Icon name="close" size={16} />
                <span className="sr-only">{texts.removeFilter}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The first page of the list with the other filters. */
function without(path: string, search: URLSearchParams, filter: string): string {
  const rest = new URLSearchParams(search);
  rest.delete(filter);
  rest.delete('before');
  return rest.size === 0 ? path : `${path}?${rest}`;
}
