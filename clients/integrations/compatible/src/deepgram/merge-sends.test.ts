import { VoiceGate, type GateOutput } from '@svc-asr/sdk/audio';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeSends } from './merge-sends.ts';

/** Each sample, and each skip in its place. */
function flat(outputs: readonly GateOutput[]): (number | string)[] {
  return outputs.flatMap<number | string>((output) =>
    output.do === 'send' ? [...output.samples] : [`skip ${output.ms}`],
  );
}

test('neither samples nor skips change or move, and no two sends follow each other', () => {
  const output: fc.Arbitrary<GateOutput> = fc.oneof(
    fc
      .int16Array({ minLength: 1, maxLength: 5 })
      .map((samples) => ({ do: 'send' as const, samples })),
    fc.nat({ max: 99 }).map((ms) => ({ do: 'skip' as const, ms })),
  );
  fc.assert(
    fc.property(fc.array(output), (outputs) => {
      const merged = mergeSends(outputs);
      expect(flat(merged)).toEqual(flat(outputs));
      const isDouble = merged.some(
        (each, at) => each.do === 'send' && merged[at + 1]?.do === 'send',
      );
      expect(isDouble).toBe(false);
    }),
  );
});

test('100 ms of speech are one send', () => {
  const gate = new VoiceGate();
  const tone = Int16Array.from({ length: 16 * 2_000 }, (_, at) => 8_000 * Math.sin(at / 11));
  gate.push(tone);
  expect(mergeSends(gate.push(tone.slice(0, 1_600)))).toEqual([
    { do: 'send', samples: tone.slice(0, 1_600) },
  ]);
});
