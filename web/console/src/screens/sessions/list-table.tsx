import type { ReactNode } from 'react';

export const EXTRA_COLUMN = 'max-xl:hidden';

/** A table on wide screens, cards on phones. Its columns are `names`, then `figures`, which end at the right. */
export function ListTable(props: {
  label: string;
  names: string[];
  figures: string[];
  /** Shares of the width in percent. Columns then keep their places when rows are added. */
  shares?: readonly number[];
  /** The figure that has room on large screens only. */
  extra?: string;
  children: ReactNode;
}) {
  return (
    <table className="w-full text-left text-sm max-lg:block">
      <caption className="sr-only">{props.label}</caption>
      <colgroup>
        {props.shares?.map((share, at) => (
          <col
            key={at}
            className={[...props.names, ...props.figures][at] === props.extra ? EXTRA_COLUMN : ''}
            style={{ width: `${share}%` }}
          />
        ))}
      </colgroup>
      <thead className="text-xs text-ink-3 max-lg:sr-only">
        <tr className="[&>th]:pb-2 [&>th]:font-medium [&>th+th]:pl-5">
          {props.names.map((name) => (
            <th key={name}>{name}</th>
          ))}
          {props.figures.map((name) => (
            <th key={name} className={`text-right ${name === props.extra ? EXTRA_COLUMN : ''}`}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-lg:block">{props.children}</tbody>
    </table>
  );
}

/** A row whose cells have their own places in the card of a phone. */
export function ListRow({ children }: { children: ReactNode }) {
  return (
    <tr className="border-t border-line align-baseline max-lg:grid max-lg:first:border-t-0 max-lg:first:pt-0 max-lg:grid-cols-[1fr_auto] max-lg:gap-x-3 max-lg:gap-y-1 max-lg:py-3.5 lg:[&>td]:py-3 lg:[&>td+td]:pl-5">
      {children}
    </tr>
  );
}
