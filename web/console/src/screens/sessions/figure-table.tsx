import { ListTable } from './list-table.tsx';

/** A table of names and figures. On phones each row is a few lines, and every figure has its name. */
export function FigureTable(props: {
  label: string;
  names: string[];
  figures: string[];
  rows: { id: string; names: string[]; figures: string[]; isTotal?: boolean }[];
}) {
  return (
    <ListTable label={props.label} names={props.names} figures={props.figures}>
      {props.rows.map((row) => (
        <tr
          key={row.id}
          className={`border-t border-line tabular-nums ${row.isTotal === true ? 'font-semibold' : ''} max-lg:flex max-lg:flex-wrap max-lg:gap-x-5 max-lg:gap-y-1 max-lg:py-3 max-lg:first:border-t-0 max-lg:first:pt-0 lg:[&>td]:py-2 lg:[&>td+td]:pl-5`}
        >
          {row.names.map((name, at) => (
            <td
              key={props.names[at]}
              className="wrap-anywhere max-lg:empty:hidden max-lg:first:w-full max-lg:first:font-medium"
            >
              {name}
            </td>
          ))}
          {row.figures.map((figure, at) => (
            <td
              key={props.figures[at]}
              data-name={props.figures[at]}
              className="whitespace-nowrap max-lg:before:mr-1.5 max-lg:before:font-normal max-lg:before:text-ink-3 max-lg:before:content-[attr(data-name)] lg:text-right"
            >
              {figure}
            </td>
          ))}
        </tr>
      ))}
    </ListTable>
  );
}
