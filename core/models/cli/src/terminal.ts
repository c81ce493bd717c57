/** Output and prompts of a command. Tests pass their own. */
export interface Terminal {
  readonly say: (line: string) => void;
  /** Shows progress on one line, which the next call replaces. */
  readonly show: (line: string) => void;
  /** Null without an interactive terminal. */
  readonly ask: ((question: string) => Promise<string>) | null;
}

const MEGABYTE = 1_000_000;

export function inMegabytes(bytes: number): string {
  return bytes < MEGABYTE
    ? `${Math.ceil(bytes / 1000)} kB`
    : `${Math.round(bytes / MEGABYTE).toLocaleString('en')} MB`;
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
