import type { ReactNode } from 'react';
import { useFirstRows } from '../../../design/first-rows.ts';

export interface TableColumn<T> {
  readonly name: string;
  readonly cell: (row: T) => ReactNode;
  /** Ends at the right, such as numbers. */
  readonly isNumber?: boolean;
  /** Names the row. On phones it is the head of a card. */
  readonly isTitle?: boolean;
  /** May be broken anywhere, such as a name. Others keep their words whole. */
  readonly isLong?: boolean;
  /** Without its name on phones. */
  readonly isBare?: boolean;
}

/** A dense table on wide screens, one card per row on phones. */
export function DataTable<T>(props: {
  label: string;
  columns: readonly TableColumn<T>[];
  rows: readonly T[];
  idOf: (row: T) => string;
  /** Rows whose data is of the past. */
  isFaded?: (row: T) => boolean;
}) {
  const shown = useFirstRows(props.rows);
  return (
    <table className="w-full text-left text-sm max-lg:block">
      <caption className="sr-only">{props.label}</caption>
      <thead className="text-xs text-ink-3 max-lg:sr-only">
        <tr className="[&>th]:pb-2 [&>th]:align-bottom [&>th]:font-medium [&>th+th]:pl-4">
          {props.columns.map(({ name, isNumber }) => (
            <th key={name} scope="col" className={isNumber === true ? 'text-right' : ''}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-lg:block">
        {shown.map((row) => (
          <tr
            key={props.idOf(row)}
            className={`border-t border-line align-baseline max-lg:grid max-lg:gap-1.5 max-lg:py-3.5 max-lg:first:border-t-0 max-lg:first:pt-0 lg:[&>td]:py-2 lg:[&>td+td]:pl-4 ${props.isFaded?.(row) === true ? 'stale' : ''}`}
          >
            {props.columns.map((column) => (
              <td key={column.name} className={lookOf(column)}>
                {column.isTitle !== true && column.isBare !== true && (
                  <span aria-hidden="true" className="shrink-0 text-xs text-ink-3 lg:hidden">
                    {column.name}
                  </span>
                )}
                {column.isTitle === true || column.isBare === true ? (
                  column.cell(row)
                ) : (
                  <span
                    className={`min-w-0 max-lg:text-right ${column.isLong === true ? 'wrap-anywhere' : 'wrap-break-word'}`}
                  >
                    {column.cell(row)}
                  </span>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function lookOf<T>({ isNumber, isTitle, isBare, isLong }: TableColumn<T>): string {
  if (isTitle === true) return 'wrap-anywhere max-lg:font-medium xl:min-w-44';
  if (isBare === true) return isNumber === true ? 'lg:text-right' : 'lg:w-2/5';
  const cell = 'max-lg:flex max-lg:items-baseline max-lg:justify-between max-lg:gap-4';
  if (isNumber === true) return `${cell} tabular-nums lg:text-right lg:whitespace-nowrap`;
  // Wide enough for most addresses, which would otherwise lose their last letters to a second line.
  return isLong === true ? `${cell} xl:min-w-56` : cell;
}

/** A link in a table. */
export const TABLE_LINK = 'rounded-sm text-accent-strong underline underline-offset-4';
