/** A value of a table for spreadsheets. */
export type CsvValue = string | number | null;

/** Spreadsheets run a cell that begins with one of these as a formula. Some read full-width signs as the plain ones. */
const FORMULA = /^[=+\-@\t\r|%\uFF1D\uFF0B\uFF0D\uFF20]/u;

/** Writes a table as RFC 4180. */
export function writeCsv(
  columns: readonly string[],
  rows: readonly (readonly CsvValue[])[],
): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
