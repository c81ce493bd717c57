import type { ReactNode } from 'react';

/** A table on wide screens, cards on phones. Its columns are `names`, then `figures`, which end at the right. */
export function ListTable(props: {
  label: string;
  names: string[];
  figures: string[];
  /** Shares of the width in percent. Columns then keep their places when rows are added. */
  shares?: readonly number[];
  children: ReactNode;
}) {
  return (
    <table className="w-full text-left text-sm max-md:block">
      <caption className="sr-only">{props.label}</caption>
      <colgroup>
        {props.shares?.map((share, at) => (
          <col key={at} style={{ width: `${share}%` }} />
        ))}
      </colgroup>
      <thead className="text-xs text-ink-3 max-md:sr-only">
        <tr className="[&>th]:pb-2 [&>th]:font-medium [&>th+th]:pl-5">
          {props.names.map((name) => (
            <th key={name}>{name}</th>
          ))}
          {props.figures.map((name) => (
            <th key={name} className="text-right">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:block">{props.children}</tbody>
    </table>
  );
}

/** A row whose cells have their own places in the card of a phone. */
export function ListRow({ children }: { children: ReactNode }) {
  return (
    <tr className="border-t border-line align-baseline max-md:grid max-md:first:border-t-0 max-md:first:pt-0 max-md:grid-cols-[1fr_auto] max-md:gap-x-3 max-md:gap-y-1 max-md:py-3.5 md:[&>td]:py-3 md:[&>td+td]:pl-5">
      {children}
    </tr>
  );
}
