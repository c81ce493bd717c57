import { basename } from 'node:path';
import type { FileTranscript } from './file-transcript.ts';
import { bar, clock, fit, tail, type Terminal } from './terminal.ts';

interface Row {
  readonly state: 'waiting' | 'running' | 'over';
  readonly totalMs: number | null;
  readonly sentMs: number;
  readonly text: string;
  /** Shown instead of the text while nothing happens. */
  readonly note: string;
}

const WAITING: Row = { state: 'waiting', totalMs: null, sentMs: 0, text: '', note: '' };

const NAME_WIDTH = 22;
const BAR_WIDTH = 18;
const TIME_WIDTH = 14;
const HEAD_WIDTH = NAME_WIDTH + BAR_WIDTH + TIME_WIDTH + 4;
const REDRAW_MS = 80;
const ROWS_MAX = 8;

/** Shows a line per running file and one for the whole run, redrawn in place, and a lasting line per finished file. */
export class ProgressBoard {
  readonly #terminal: Terminal;
  readonly #rows: Map<string, Row>;
  #startedAt: number | null = null;
  #drawnAt = -Infinity;

  constructor(terminal: Terminal, paths: readonly string[]) {
    this.#terminal = terminal;
    this.#rows = new Map(paths.map((path) => [path, WAITING]));
  }

  duration(path: string, totalMs: number | null): void {
    this.#change(path, { totalMs });
  }

  started(path: string): void {
    this.#change(path, { state: 'running' });
  }

  sent(path: string, sentMs: number): void {
    this.#startedAt ??= performance.now();
    this.#change(path, { sentMs });
  }

  text(path: string, text: string): void {
    this.#change(path, { text, note: '' });
  }

  note(path: string, note: string): void {
    this.#change(path, { note });
  }

  /** Another worker takes the file over. */
  requeued(path: string): void {
    this.#change(path, { state: 'waiting', sentMs: 0, note: '' });
  }

  done(path: string, transcript: FileTranscript): void {
    const words = transcript.words.length;
    const counted = words === 1 ? '1 word' : `${words} words`;
    const charged = `${transcript.chargedMs / 1000} s charged`;
    const facts = [clock(transcript.audioMs), counted, charged].join(' · ');
    this.#over(path, this.#terminal.style('green', '✓'), this.#terminal.style('dim', facts));
  }

  failed(path: string, reason: string): void {
    this.#over(path, this.#terminal.style('red', '✗'), reason);
  }

  skipped(path: string, reason: string): void {
    this.#over(path, '-', this.#terminal.style('dim', reason));
  }

  end(): void {
    this.#terminal.clearLive();
  }

  #over(path: string, mark: string, facts: string): void {
    this.#change(path, { state: 'over' });
    this.#terminal.note(`${mark} ${basename(path)}  ${facts}`);
    this.#draw();
  }

  #change(path: string, change: Partial<Row>): void {
    this.#rows.set(path, { ...(this.#rows.get(path) ?? WAITING), ...change });
    if (performance.now() - this.#drawnAt >= REDRAW_MS) this.#draw();
  }

  #draw(): void {
    this.#drawnAt = performance.now();
    const running = [...this.#rows].filter(([, { state }]) => state === 'running');
    const lines = running.slice(0, ROWS_MAX).map(([path, row]) => this.#line(path, row));
    if (this.#rows.size > 1) lines.push(this.#overall());
    this.#terminal.live(lines);
  }

  #overall(): string {
    const rows = [...this.#rows.values()];
    const over = rows.filter(({ state }) => state === 'over').length;
    const { sentMs, totalMs } = this.#progress(rows);
    const share = totalMs === 0 ? over / rows.length : sentMs / totalMs;
    const left = this.#timeLeft(sentMs, totalMs);
    const text = `${over} of ${rows.length} files${left === null ? '' : `, about ${clock(left)} left`}`;
    return fit(
      `  ${fit('all files', NAME_WIDTH)} ${bar(share, BAR_WIDTH)} ${text}`,
      this.#terminal.columns - 1,
    );
  }

  /** Files of unknown length count as an average one. */
  #progress(rows: readonly Row[]): { sentMs: number; totalMs: number } {
    const known = rows.flatMap(({ totalMs }) => totalMs ?? []);
    const average = known.length === 0 ? 0 : known.reduce((sum, ms) => sum + ms, 0) / known.length;
    let sentMs = 0;
    let totalMs = 0;
    for (const row of rows) {
      const length = row.totalMs ?? Math.max(average, row.sentMs);
      totalMs += length;
      sentMs += row.state === 'over' ? length : Math.min(length, row.sentMs);
    }
    return { sentMs, totalMs };
  }

  #timeLeft(sentMs: number, totalMs: number): number | null {
    if (this.#startedAt === null || sentMs === 0) return null;
    const elapsedMs = performance.now() - this.#startedAt;
    return elapsedMs < 1_000 ? null : (elapsedMs * (totalMs - sentMs)) / sentMs;
  }

  #line(path: string, row: Row): string {
    const share = row.totalMs === null ? 0 : row.sentMs / row.totalMs;
    const time = `${clock(row.sentMs)}${row.totalMs === null ? '' : ` of ${clock(row.totalMs)}`}`;
    const name = `  ${fit(basename(path), NAME_WIDTH)}`;
    const { columns } = this.#terminal;
    // A line that wraps can't be redrawn.
    if (columns < HEAD_WIDTH) return fit(`${name} ${time}`, columns - 1);
    const progress = this.#terminal.style('cyan', bar(share, BAR_WIDTH));
    const head = `${name} ${progress} ${time.padEnd(TIME_WIDTH)}`;
    const room = columns - HEAD_WIDTH - 2;
    if (room < 8) return head;
    const text = row.note === '' ? tail(row.text, room) : fit(row.note, room);
    return `${head} ${this.#terminal.style('dim', text)}`;
  }
}
