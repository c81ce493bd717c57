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
          className={`border-t border-line tabular-nums ${row.isTotal === true ? 'font-semibold' : ''} max-md:grid max-md:grid-cols-2 max-md:gap-x-4 max-md:gap-y-1 max-md:py-3 max-md:first:border-t-0 max-md:first:pt-0 md:[&>td]:py-2 md:[&>td+td]:pl-5`}
        >
          {row.names.map((name, at) => (
            <td
              key={props.names[at]}
              className="wrap-anywhere max-md:empty:hidden max-md:first:col-span-2 max-md:first:font-medium"
            >
              {name}
            </td>
          ))}
          {row.figures.map((figure, at) => (
            <td
              key={props.figures[at]}
              data-name={props.figures[at]}
              className="whitespace-nowrap max-md:before:mr-1.5 max-md:before:font-normal max-md:before:text-ink-3 max-md:before:content-[attr(data-name)] md:text-right"
            >
              {figure}
            </td>
          ))}
        </tr>
      ))}
    </ListTable>
  );
}
