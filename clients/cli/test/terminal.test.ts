import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { jsonText, printable, Terminal } from '../src/terminal.ts';

function output(isTTY: boolean) {
  return Object.assign(new PassThrough().setEncoding('utf8'), { isTTY });
}

function show(where: { out: boolean; err: boolean }, env: NodeJS.ProcessEnv = {}) {
  const [out, err] = [output(where.out), output(where.err)];
  const terminal = new Terminal(out, err, env);
  terminal.live(['half']);
  terminal.print(terminal.style('green', 'whole'));
  return { out: out.read(), err: err.read() };
}

test('a terminal gets colours and lines that are redrawn', () => {
  const { out, err } = show({ out: true, err: true });
  expect(out).toBe('\u001B[32mwhole\u001B[39m\n');
  expect(err).toBe('half\n\u001B[1F\u001B[0J');
});

test('a pipe gets no colours, even if standard error is a terminal', () => {
  expect(show({ out: false, err: true }).out).toBe('whole\n');
});

test('NO_COLOR removes colours and keeps the progress', () => {
  const { out, err } = show({ out: true, err: true }, { NO_COLOR: '1' });
  expect([out, err]).toEqual(['whole\n', 'half\n\u001B[1F\u001B[0J']);
});

test('shows no progress without a terminal', () => {
  expect(show({ out: false, err: false }).err).toBeNull();
});

const HOSTILE = 'a\u001B]0;x\u0007\u009B2J\u202E\u2028\u{E0041}b';

test('text from outside loses the characters that a terminal interprets or hides', () => {
  expect(printable(HOSTILE)).toBe('a\uFFFD]0;x\uFFFD\uFFFD2J\uFFFD\uFFFD\uFFFDb');
  const err = output(true);
  new Terminal(output(true), err, {}).note(HOSTILE);
  expect(err.read()).toBe(`${printable(HOSTILE)}\n`);
});

test('JSON keeps them as escapes', () => {
  const text = jsonText({ file: HOSTILE });
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(text)).toEqual({ file: HOSTILE });
});
