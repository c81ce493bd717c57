import { expect, test } from 'vitest';
import { Faults, parseFault, parseFaultFlag } from '../src/faults.ts';

test('a fault strikes as often as it was armed for, and only its own victims', () => {
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
])('--fault %s is understood', (flag, fault) => {
  expect(parseFaultFlag(flag)).toEqual(fault);
});

test('what cannot be meant is answered with a sentence', () => {
  for (const flag of ['', 'nonsense', 'engine-crash:', 'unavailable*0', 'engine-crash:9999999']) {
    expect(parseFaultFlag(flag)).toHaveProperty('problem');
  }
  expect(parseFault({ name: '__proto__' })).toHaveProperty('problem');
});
