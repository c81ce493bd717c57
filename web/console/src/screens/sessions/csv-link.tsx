/** Downloads what a screen shows, with the same filters, as a table. */
export function CsvLink(props: {
  name: 'log' | 'sessions' | 'usage';
  /** With its question mark. Empty: no filters. */
  query: string;
  label: string;
  hint?: string;
}) {
  return (
    <a
      className="button button-secondary"
      title={props.hint}
      href={`/console-api/${props.name}.csv${props.query}`}
      download={`svc-asr-${props.name}.csv`}
    >
      {props.label}
    </a>
  );
}
