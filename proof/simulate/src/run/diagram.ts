import type { TraceLine } from '../virtual/trace.ts';

const COLUMN = 10;
const TIME = 9;

/** Draws a trace as a sequence diagram in text: a lifeline for each process, an arrow for each message. */
export function drawSequence(trace: readonly TraceLine[]): string {
  const lines = joinRepeated(trace);
  const parties = partiesOf(lines);
  const header = ' '.repeat(TIME + 2) + parties.map((name) => name.padEnd(COLUMN)).join('');
  return [header, ...lines.map((line) => drawLine(line, parties))].join('\n');
}

function partiesOf(lines: readonly TraceLine[]): string[] {
  const names = new Set<string>();
  for (const { from, to } of lines) {
    for (const name of [from, to]) if (name !== null && name !== 'fault') names.add(name);
  }
  return [...names].toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** Clients on the left, the database on the right. */
function rank(name: string): number {
  const at = ['client', 'api', 'node', 'database'].findIndex((prefix) => name.startsWith(prefix));
  return at === -1 ? 4 : at;
}

function drawLine({ atMs, from, to, text }: TraceLine, parties: readonly string[]): string {
  const time = atMs.toFixed(1).padStart(TIME);
  if (from === 'fault') {
    return `${time}  ${`~~ ${text} `.padEnd(parties.length * COLUMN, '~')}`;
  }
  const cells = parties.map(() => `|${' '.repeat(COLUMN - 1)}`.split(''));
  const row = cells.flat();
  const start = parties.indexOf(from) * COLUMN;
  const end = to === null ? start : parties.indexOf(to) * COLUMN;
  const [left, right] = start < end ? [start, end] : [end, start];
  for (let at = left + 1; at < right; at += 1) row[at] = '-';
  if (to === null) row[start] = '*';
  else if (start < end) row[end - 1] = '>';
  else row[end + 1] = '<';
  return `${time}  ${row.join('')} ${to === null ? `${from} ${text}` : text}`;
}

/** Joins equal lines in a row: a flood is one line. */
function joinRepeated(lines: readonly TraceLine[]): TraceLine[] {
  const joined: { line: TraceLine; times: number }[] = [];
  for (const line of lines) {
    const last = joined.at(-1);
    const isSame =
      last !== undefined &&
      last.line.from === line.from &&
      last.line.to === line.to &&
      last.line.text === line.text;
    if (isSame) last.times += 1;
    else joined.push({ line, times: 1 });
  }
  return joined.map(({ line, times }) =>
    times === 1 ? line : { ...line, text: `${line.text} (${times} times)` },
  );
}
