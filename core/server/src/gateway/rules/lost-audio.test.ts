import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AudioDigests, ReplayedAudio } from './lost-audio.ts';

const anyUtterances = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 });

/** Audio in which no two places are equal. */
function audio(from: number, samples: number): Uint8Array {
  return new Uint8Array(Uint16Array.from({ length: samples }, (_, at) => from + at).buffer);
}

function* frames(pcm: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < pcm.byteLength; turn += 1) {
    const bytes = 2 * (sizes[turn % sizes.length] ?? 1);
    yield pcm.subarray(at, at + bytes);
    at += bytes;
  }
}

function lose(sessionId: string, lengths: readonly number[], uncharged = 0) {
  const digests = new AudioDigests(sessionId);
  let at = 0;
  for (const [index, length] of lengths.entries()) {
    if (index > 0) digests.cut();
    for (const frame of frames(audio(at, length), [7])) digests.add(frame);
    at += length;
  }
  return { lost: digests.end(at - uncharged), samples: at };
}

test('audio that is sent again from any utterance on is recognised, in frames of any size, whenever the rest is known', () => {
  fc.assert(
    fc.property(
      anyUtterances,
      fc.nat(7),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      fc.nat(200),
      fc.nat(20),
      (lengths, start, sizes, more, knownAfter) => {
        const { lost, samples } = lose('s', lengths);
        const first = lengths.slice(0, start % lengths.length).reduce((sum, one) => sum + one, 0);
        const again = samples - first;
        const replay = new ReplayedAudio();
        let count = 0;
        for (const frame of frames(audio(first, again + more), sizes)) {
          if (count === knownAfter) replay.know([lost]);
          replay.add(frame);
          count += 1;
        }
        if (count <= knownAfter) replay.know([lost]);
        expect(replay.replayed).toEqual({ sessionId: 's', samples: again });
      },
    ),
  );
});

test('other audio is not recognised, and neither is the part of an utterance that is not complete', () => {
  const { lost, samples } = lose('s', [300, 200]);
  const other = new ReplayedAudio();
  other.know([lost]);
  other.add(audio(1, samples));
  expect(other.replayed).toBeNull();
  const part = new ReplayedAudio();
  part.know([lost]);
  part.add(audio(0, samples - 1));
  expect(part.replayed).toEqual({ sessionId: 's', samples: 300 });
});

test('of several lost sessions the longest match counts', () => {
  const { lost: short } = lose('short', [100]);
  const { lost: long } = lose('long', [100, 50]);
  const replay = new ReplayedAudio();
  replay.know([short, long]);
  replay.add(audio(0, 200));
  expect(replay.replayed).toEqual({ sessionId: 'long', samples: 150 });
});

test('an utterance that was not charged to its end is not remembered', () => {
  expect(lose('a', [10, 20, 30]).lost.lengths).toEqual([10, 20, 30]);
  expect(lose('a', [10, 20, 30], 1).lost.lengths).toEqual([10, 20]);
  expect(lose('a', [10, 20, 30], 30).lost.lengths).toEqual([10, 20]);
  expect(lose('a', [10, 20, 30], 60).lost.lengths).toEqual([]);
});

test('audio that a reset has dropped is not expected again', () => {
  const digests = new AudioDigests('a');
  digests.add(audio(0, 10));
  digests.cut();
  digests.add(audio(10, 20));
  digests.drop();
  digests.add(audio(30, 5));
  const replay = new ReplayedAudio();
  replay.know([digests.end(35)]);
  replay.add(audio(0, 10));
  replay.add(audio(30, 5));
  expect(replay.replayed).toEqual({ sessionId: 'a', samples: 15 });
});

test('a digest is a whole SHA-256, so that nobody can choose two audios with the same one', () => {
  const [digest] = lose('a', [10]).lost.digests;
  const whole = createHash('sha256').update('a').update(audio(0, 10)).digest('hex');
  expect(digest).toBe(whole);
});

test('keeps the last utterances, and digests of two sessions never tell that their audio is equal', () => {
  const { lost } = lose('a', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(lost.lengths).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  expect(lose('b', [10]).lost.digests).not.toEqual(lose('a', [10]).lost.digests);
});
