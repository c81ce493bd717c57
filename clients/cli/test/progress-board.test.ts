import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FileTranscript } from '../src/file-transcript.ts';
import { ProgressBoard } from '../src/bulk/progress-board.ts';
import { Terminal } from '../src/terminal.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const TRANSCRIPT = new FileTranscript({ finals: [], audioMs: 60_000, sessions: [] });

test('shows an overall bar with the time left', () => {
  const err = Object.assign(new PassThrough().setEncoding('utf8'), { isTTY: true, columns: 100 });
  const board = new ProgressBoard(new Terminal(new PassThrough(), err, {}), ['a', 'b', 'c', 'd']);
  for (const path of ['a', 'b', 'c', 'd']) board.plan(path, { totalMs: 60_000, fromMs: 0 });
  board.started('a');
  board.ready('a');
  vi.advanceTimersByTime(10_000);
  board.done('a', TRANSCRIPT);
  const drawn = stripVTControlCharacters(String(err.read())).trimEnd().split('\n');
  // One of four minutes took ten seconds.
  expect(drawn.at(-1)).toMatch(/^ {2}all files +█████░+ 1 of 4 files, about 0:30 left/);
});
