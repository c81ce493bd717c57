import { basename } from 'node:path';
import type { Transcript } from '@svc-asr/sdk/stream';
import { bar, clock, fit, tail, type Terminal } from './terminal.ts';

interface Row {
  state: 'waiting' | 'running' | 'done' | 'failed';
  totalMs: number | null;
  sentMs: number;
  said: string;
  /** What is waited for, instead of what is said. */
  note: string;
}

const WAITING: Row = { state: 'waiting', totalMs: null, sentMs: 0, said: '', note: '' };

const NAME_WIDTH = 22;
const BAR_WIDTH = 18;
const TIME_WIDTH = 14;
const HEAD_WIDTH = NAME_WIDTH + BAR_WIDTH + TIME_WIDTH + 4;
const REDRAW_MS = 80;
const ROWS_MAX = 8;

/** One line for each file that runs, redrawn in place; a lasting line for each that is over. */
export class Board {
  readonly #terminal: Terminal;
  readonly #rows: Map<string, Row>;
  #drawnAt = -Infinity;

  constructor(terminal: Terminal, paths: readonly string[]) {
    this.#terminal = terminal;
    this.#rows = new Map(paths.map((path) => [path, WAITING]));
  }

  started(path: string, totalMs: number | null): void {
    this.#change(path, { state: 'running', totalMs });
  }

  sent(path: string, sentMs: number): void {
    this.#change(path, { sentMs });
  }

  said(path: string, said: string): void {
    this.#change(path, { said, note: '' });
  }

  note(path: string, note: string): void {
    this.#change(path, { note });
  }

  done(path: string, transcript: Transcript): void {
    const row = this.#change(path, { state: 'done' });
    const words = transcript.words.length;
    const charged = transcript.sessions.reduce((sum, { billableMs }) => sum + (billableMs ?? 0), 0);
    const counted = words === 1 ? '1 word' : `${words} words`;
    const facts = [clock(row.sentMs), counted, `${charged / 1000} s charged`].join(' · ');
    const { style } = this.#styles();
    this.#terminal.note(`${style('green', '✓')} ${basename(path)}  ${style('dim', facts)}`);
    this.#draw();
  }

  failed(path: string, why: string): void {
    this.#change(path, { state: 'failed' });
    const { style } = this.#styles();
    this.#terminal.note(`${style('red', '✗')} ${basename(path)}  ${why}`);
    this.#draw();
  }

  end(): void {
    this.#terminal.clearLive();
  }

  #styles() {
    return { style: this.#terminal.style.bind(this.#terminal) };
  }

  #change(path: string, change: Partial<Row>): Row {
    const row: Row = { ...(this.#rows.get(path) ?? WAITING), ...change };
    this.#rows.set(path, row);
    if (performance.now() - this.#drawnAt >= REDRAW_MS) this.#draw();
    return row;
  }

  #draw(): void {
    this.#drawnAt = performance.now();
    const rows = [...this.#rows];
    const running = rows.filter(([, row]) => row.state === 'running');
    const waiting = rows.filter(([, row]) => row.state === 'waiting').length;
    const lines = running.slice(0, ROWS_MAX).map(([path, row]) => this.#line(path, row));
    const more = running.length - ROWS_MAX + waiting;
    const rest = Math.max(waiting, more);
    if (rest > 0) lines.push(this.#terminal.style('dim', `  ${rest} more waiting`));
    this.#terminal.live(lines);
  }

  #line(path: string, row: Row): string {
    const { style } = this.#styles();
    const share = row.totalMs === null ? 0 : row.sentMs / row.totalMs;
    const time = `${clock(row.sentMs)}${row.totalMs === null ? '' : ` of ${clock(row.totalMs)}`}`;
    const name = `  ${fit(basename(path), NAME_WIDTH)}`;
    const { columns } = this.#terminal;
    // A line that wraps cannot be redrawn.
    if (columns < HEAD_WIDTH) return fit(`${name} ${time}`, columns - 1);
    const head = `${name} ${style('cyan', bar(share, BAR_WIDTH))} ${time.padEnd(TIME_WIDTH)}`;
    const room = columns - HEAD_WIDTH - 2;
    if (room < 8) return head;
    return `${head} ${style('dim', row.note === '' ? tail(row.said, room) : fit(row.note, room))}`;
  }
}
