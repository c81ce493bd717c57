import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { en } from '../../texts/en.ts';
import { explainCharge } from './explain-charge.ts';

const session = { status: 'completed', reserved_ms: 60_000, audio_ms: 0, billable_ms: 0 } as const;

describe('the explanation of a charge', () => {
  test.each([
    [
      { ...session, audio_ms: 1_200, billable_ms: 2_000 },
      '1.2 s of accepted audio, rounded up once to 2 s.',
    ],
    [
      { ...session, audio_ms: 1_001, billable_ms: 2_000 },
      '1.001 s of accepted audio, rounded up once to 2 s.',
    ],
    [{ ...session, audio_ms: 12_000, billable_ms: 12_000 }, '12 s of accepted audio.'],
    [
      { ...session, audio_ms: 60_000, billable_ms: 60_000 },
      'All 1 min of the reservation was used.',
    ],
    [session, 'No audio was accepted, so nothing was charged.'],
    [
      { ...session, status: 'failed', audio_ms: 7_500 },
      'Our fault, so not charged. All 1 min was returned.',
    ],
    [{ ...session, status: 'expired' }, 'No client connected within 60 s. All 1 min was returned.'],
  ] as const)('%o', (given, sentence) => {
    expect(explainCharge(given, en)).toBe(sentence);
  });

  test('never claims a charge for an uncharged session', () => {
    const statuses = ['failed', 'expired', 'completed'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...statuses), fc.nat(300_000), (status, audio_ms) => {
        const sentence = explainCharge({ ...session, status, audio_ms, billable_ms: 0 }, en);
        expect(sentence).toMatch(/not charged|was returned|nothing was charged/);
      }),
    );
  });
});
