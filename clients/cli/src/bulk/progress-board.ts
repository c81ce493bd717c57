import { basename } from 'node:path';
import type { FileTranscript } from '../file-transcript.ts';
import { STDIN } from '../input-files.ts';
import { TimeLeft, type Progress } from './time-left.ts';
import { bar, clock, fit, printable, tail, type Terminal } from '../terminal.ts';

interface Row {
  readonly state: 'waiting' | 'running' | 'done' | 'dropped';
  readonly totalMs: number | null;
  /** Where an earlier run ended. */
  readonly fromMs: number;
  readonly sentMs: number;
  readonly text: string;
  /** Shown instead of the text while nothing happens. */
  readonly note: string;
}

const WAITING: Row = {
  state: 'waiting',
  totalMs: null,
  fromMs: 0,
  sentMs: 0,
  text: '',
  note: '',
};
/** Audio that waits in the stream's buffer. It is sent much faster than it is transcribed. */
const BUFFER_MS = 5_000;

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
  #timeLeft: TimeLeft | null = null;
  #drawnAt = -Infinity;

  constructor(terminal: Terminal, paths: readonly string[]) {
    this.#terminal = terminal;
    this.#rows = new Map(paths.map((path) => [path, WAITING]));
  }

  /** Announces a file's length and how much of it is done. */
  plan(path: string, { totalMs, fromMs }: { totalMs: number | null; fromMs: number }): void {
    this.#change(path, { totalMs, fromMs, sentMs: fromMs });
  }

  started(path: string): void {
    this.#change(path, { state: 'running' });
  }

  sent(path: string, sentMs: number): void {
    this.#change(path, { sentMs });
  }

  /** The service takes audio. */
  ready(path: string): void {
    this.#timeLeft ??= new TimeLeft(performance.now());
    this.#change(path, { note: '' });
  }

  text(path: string, text: string): void {
    this.#change(path, { text, note: '' });
  }

  note(path: string, note: string): void {
    this.#change(path, { note });
  }

  /** Another worker takes the file over. */
  requeued(path: string): void {
    const fromMs = this.#rows.get(path)?.fromMs ?? 0;
    this.#change(path, { state: 'waiting', sentMs: fromMs, note: '' });
  }

  done(path: string, transcript: FileTranscript): void {
    const words = transcript.words.length;
    const counted = words === 1 ? '1 word' : `${words} words`;
    const charged = `${transcript.chargedNowMs / 1000} s charged`;
    const { earlier } = transcript;
    const continued = earlier === null ? [] : [`continued from ${clock(earlier.endMs)}`];
    const facts = [clock(transcript.audioMs), counted, ...continued, charged].join(' · ');
    this.#over(
      path,
      'done',
      this.#terminal.style('green', '✓'),
      this.#terminal.style('dim', facts),
    );
  }

  failed(path: string, reason: string): void {
    this.#over(path, 'dropped', this.#terminal.style('red', '✗'), printable(reason));
  }

  skipped(path: string, reason: string): void {
    this.#over(path, 'dropped', '-', this.#terminal.style('dim', reason));
  }

  /** Says nothing: the total counts these files. */
  notStarted(path: string): void {
    this.#change(path, { state: 'dropped' });
  }

  end(): void {
    this.#terminal.clearLive();
  }

  #over(path: string, state: 'done' | 'dropped', mark: string, facts: string): void {
    this.#change(path, { state });
    this.#terminal.note(`${mark} ${shownName(path)}  ${facts}`);
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
    const over = rows.filter(({ state }) => state === 'done' || state === 'dropped').length;
    const progress = progressOf(rows);
    const allMs = progress.doneMs + progress.restMs;
    const share = allMs === 0 ? over / rows.length : progress.doneMs / allMs;
    const left = this.#timeLeft?.estimate(performance.now(), progress) ?? null;
    const text = `${over} of ${rows.length} files${left === null ? '' : `, about ${clock(left)} left`}`;
    return fit(
      `  ${fit('all files', NAME_WIDTH)} ${bar(share, BAR_WIDTH)} ${text}`,
      this.#terminal.columns - 1,
    );
  }

  #line(path: string, row: Row): string {
    const share = row.totalMs === null ? 0 : row.sentMs / row.totalMs;
    const time = `${clock(row.sentMs)}${row.totalMs === null ? '' : ` of ${clock(row.totalMs)}`}`;
    const name = `  ${fit(shownName(path), NAME_WIDTH)}`;
    const { columns } = this.#terminal;
    // A line that wraps can't be redrawn.
    if (columns < HEAD_WIDTH) return fit(`${name} ${time}`, columns - 1);
    const progress = this.#terminal.style('cyan', bar(share, BAR_WIDTH));
    const head = `${name} ${progress} ${time.padEnd(TIME_WIDTH)}`;
    const room = columns - HEAD_WIDTH - 2;
    if (room < 8) return head;
    const text = row.note === '' ? tail(printable(row.text), room) : fit(printable(row.note), room);
    return `${head} ${this.#terminal.style('dim', text)}`;
  }
}

function shownName(path: string): string {
  return path === STDIN ? 'standard input' : printable(basename(path));
}

/** Files of unknown length count as an average one. Skipped and failed files count as far as they were sent. */
function progressOf(rows: readonly Row[]): Progress {
  const known = rows.flatMap(({ totalMs }) => totalMs ?? []);
  const average = known.length === 0 ? 0 : known.reduce((sum, ms) => sum + ms, 0) / known.length;
  let doneMs = 0;
  let restMs = 0;
  for (const { state, totalMs, fromMs, sentMs } of rows) {
    const sent = sentMs - fromMs;
    const length = Math.max(sent, (totalMs ?? average) - fromMs);
    const done = {
      waiting: 0,
      running: Math.max(0, sent - BUFFER_MS),
      done: length,
      dropped: sent,
    };
    doneMs += done[state];
    if (state !== 'dropped') restMs += length - done[state];
  }
  return { doneMs, restMs };
}
