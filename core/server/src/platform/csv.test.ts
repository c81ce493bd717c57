import { expect, test } from 'vitest';
import { writeCsv } from './csv.ts';

const cellOf = (value: string | number | null): string =>
  writeCsv(['name'], [[value]]).slice('name\r\n'.length, -'\r\n'.length);

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '|cmd', '%0A', '＝1+1', '＋1', '－1', '＠A1'])(
  'no spreadsheet runs a cell that begins like %j',
  (value) => {
    expect(cellOf(value)).toBe(`'${value}`);
  },
);

test('numbers keep their sign, and nothing is an empty cell', () => {
  expect([cellOf(-3), cellOf(null), cellOf('')]).toEqual(['-3', '', '']);
});

test('a cell stays one cell, whatever is in it', () => {
  expect(cellOf('a,b')).toBe('"a,b"');
  expect(cellOf('a"b\r\nc')).toBe('"a""b\r\nc"');
  expect(cellOf('\r=1')).toBe('"\'\r=1"');
});
