import { expect, test } from 'vitest';
import { Faults, parseFault, parseFaultFlag } from '../src/faults.ts';

test('a fault happens as often as it was armed for, and only to requests of its kind', () => {
  const faults = new Faults();
  faults.arm({ name: 'unavailable', ms: 0, times: 2 });
  faults.arm({ name: 'engine-crash', ms: 100, times: 1 });
  expect(faults.strike('no-credit')).toBeNull();
  expect(faults.strike('no-credit', 'unavailable')).toMatchObject({ name: 'unavailable' });
  expect(faults.strike('unavailable')).not.toBeNull();
  expect(faults.strike('unavailable')).toBeNull();
  expect(faults.armed).toEqual([{ name: 'engine-crash', ms: 100, times: 1 }]);
});

test.each([
  ['engine-crash', { name: 'engine-crash', ms: 1_500, times: 1 }],
  ['engine-crash:3000', { name: 'engine-crash', ms: 3_000, times: 1 }],
  ['unavailable*2', { name: 'unavailable', ms: 1_500, times: 2 }],
  ['slow-engine:40*5', { name: 'slow-engine', ms: 40, times: 5 }],
])('parses --fault %s', (flag, fault) => {
  expect(parseFaultFlag(flag)).toEqual(fault);
});

test('explains an invalid fault', () => {
  for (const flag of ['', 'nonsense', 'engine-crash:', 'unavailable*0', 'engine-crash:9999999']) {
    expect(parseFaultFlag(flag)).toHaveProperty('problem');
  }
  expect(parseFault({ name: '__proto__' })).toHaveProperty('problem');
});

test('a fault that a stream did not reach stays armed for the next one', () => {
  const faults = new Faults();
  faults.arm({ name: 'restart', ms: 3_000, times: 1 });
  const first = faults.claim('restart');
  expect(faults.claim('restart')).toBeNull();
  first?.release();
  const second = faults.claim('restart');
  expect(faults.armed).toEqual([{ name: 'restart', ms: 3_000, times: 1 }]);
  second?.met();
  expect([faults.armed, faults.met]).toEqual([[], [{ name: 'restart', ms: 3_000, times: 1 }]]);
});

test('clear() returns the faults that no client met', () => {
  const faults = new Faults();
  faults.arm({ name: 'unavailable', ms: 0, times: 2 });
  faults.strike('unavailable');
  expect(faults.clear()).toEqual([{ name: 'unavailable', ms: 0, times: 1 }]);
  expect(faults.armed).toEqual([]);
});

test('assertAllMet disarms all faults and throws the names of those that never happened', () => {
  const faults = new Faults();
  faults.arm({ name: 'unavailable', ms: 0, times: 2 });
  faults.arm({ name: 'engine-crash', ms: 100, times: 1 });
  faults.strike('engine-crash');
  expect(() => faults.assertAllMet()).toThrow('These faults never happened: unavailable*2.');
  expect(() => faults.assertAllMet()).not.toThrow();
});
