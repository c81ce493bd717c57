import { writeCsv, type CsvValue } from '../platform/csv.ts';
import { escapeControls } from '../platform/observe/escape-controls.ts';

/** Prints a command's result as a table or as JSON. */
export interface Output {
  /** Prints one record or a list. Dates and null are formatted for people. */
  show(data: Shown): void;
  /** One line per row with its values, for files that other programs read: no header, and nothing if there are no rows. */
  lines(rows: readonly Row[]): void;
  /** A header and one line per row, for spreadsheets. */
  csv(rows: readonly Row[]): void;
  /** A sentence after the table. Left out of JSON, and never on standard output. */
  say(sentence: string): void;
}

type Value = string | number | boolean | Date | null | readonly string[];
export type Row = Readonly<Record<string, Value>>;
type Shown = Row | readonly Row[];

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export function createOutput(streams: Streams, json: boolean): Output {
  const showJson = (data: Shown): void =>
    streams.out(`${escapeControls(JSON.stringify(data, null, 2))}\n`);
  return {
    show(data) {
      if (json) showJson(data);
      else streams.out(isList(data) ? table(data) : record(data));
    },
    lines(rows) {
      if (json) showJson(rows);
      else streams.out(rows.map((row) => `${Object.values(row).map(cell).join(' ')}\n`).join(''));
    },
    csv(rows) {
      const [first] = rows;
      if (first === undefined) return;
      const values = rows.map((row) => Object.values(row).map(csvValue));
      streams.out(writeCsv(Object.keys(first), values));
    },
    say(sentence) {
      if (!json) streams.err(`${escapeControls(sentence)}\n`);
    },
  };
}

function isList(data: Shown): data is readonly Row[] {
  return Array.isArray(data);
}

function table(rows: readonly Row[]): string {
  const first = rows[0];
  if (first === undefined) return 'Nothing found.\n';
  const columns = Object.keys(first);
  const cells = rows.map((row) => columns.map((column) => cell(row[column] ?? null)));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((line) => (line[index] ?? '').length)),
  );
  const isNumber = columns.map((column) => typeof first[column] === 'number');
  const lines = [columns, widths.map((width) => '-'.repeat(width)), ...cells].map((line) =>
    line
      .map((text, index) =>
        isNumber[index] ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function record(row: Row): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  return Object.entries(row)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}\n`)
    .join('');
}

function cell(value: Value): string {
  if (value === null) return '-';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') return value.map(oneLine).join(', ');
  if (typeof value === 'number') return value.toLocaleString('en');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return oneLine(value);
}

function csvValue(value: Value): CsvValue {
  return typeof value === 'number' ? value : cell(value);
}

/** A line break in a field would look like another row. */
function oneLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n');
}
