import { expect, test } from 'vitest';
import type { VoiceConfirmer, VoiceVerdicts } from '@svc-asr/engine/core.ts';
import { Intake } from './intake.ts';

/** A second detector that answers on demand. */
class Confirmer implements VoiceConfirmer {
  readonly answers: ((verdicts: VoiceVerdicts | null) => void)[] = [];
  readonly startSamples: number[] = [];
  readonly heard: Uint8Array[] = [];
  skipped = 0;

  open({ startSample }: { startSample: number }): ReturnType<VoiceConfirmer['open']> {
    this.startSamples.push(startSample);
    return {
      listen: (pcm) => {
        this.heard.push(pcm);
        return new Promise((resolve) => this.answers.push(resolve));
      },
      skip: () => (this.skipped += 1),
    };
  }
}

const VERDICTS = { startSample: 0, probabilities: Float32Array.of(0.9) };

function start(confirmer: Confirmer | null) {
  const log: string[] = [];
  const intake = new Intake({
    confirmer,
    owner: 'account',
    onAudio: (frame, _atMs, voice) => log.push(`${frame.toString()}${voice === null ? '' : '+'}`),
    onPause: () => log.push('pause'),
    onResume: () => log.push('resume'),
  });
  return { log, intake };
}

test('without a second detector nothing waits', () => {
  const { log, intake } = start(null);
  intake.listen(true, 0);
  intake.audio(Buffer.from('a'), 0);
  intake.other(() => log.push('flush'));
  expect(log).toEqual(['a', 'flush']);
});

test('audio waits for its verdict, and messages for the audio before them', async () => {
  const confirmer = new Confirmer();
  const { log, intake } = start(confirmer);
  intake.audio(Buffer.from('a'), 0);
  intake.listen(true, 7);
  expect(confirmer.startSamples).toEqual([7]);
  intake.audio(Buffer.from('b'), 0);
  intake.audio(Buffer.from('c'), 0);
  intake.other(() => log.push('flush'));
  expect(log).toEqual(['a']);
  // The answer about the second frame alone passes nothing.
  confirmer.answers[1]?.(null);
  await Promise.resolve();
  expect(log).toEqual(['a']);
  confirmer.answers[0]?.(VERDICTS);
  await new Promise(setImmediate);
  expect(log).toEqual(['a', 'b+', 'c', 'flush']);
});

test('a detector that starts between two halves of a sample gets both', () => {
  const confirmer = new Confirmer();
  const { intake } = start(confirmer);
  intake.listen(true, 7, 0x61);
  intake.audio(Buffer.from('b'), 0);
  intake.audio(Buffer.from('cd'), 0);
  expect(Buffer.concat(confirmer.heard).toString()).toBe('abcd');
});

test('a release passes all audio once, without verdicts', async () => {
  const confirmer = new Confirmer();
  const { log, intake } = start(confirmer);
  intake.listen(true, 0);
  intake.audio(Buffer.from('a'), 0);
  intake.other(() => log.push('close'));
  intake.release();
  confirmer.answers[0]?.(VERDICTS);
  await new Promise(setImmediate);
  expect(log).toEqual(['a', 'close']);
  expect(confirmer.skipped).toBe(1);
});

test('pauses the socket while four seconds wait, and loses none of them', async () => {
  const confirmer = new Confirmer();
  const { log, intake } = start(confirmer);
  intake.listen(true, 0);
  for (let frame = 0; frame < 5; frame += 1) intake.audio(Buffer.alloc(32_000, 'x'), 0);
  expect(log).toEqual(['pause']);
  expect(intake.isPaused).toBe(true);
  for (const answer of confirmer.answers) answer(VERDICTS);
  await new Promise(setImmediate);
  expect(log.filter((entry) => entry === 'resume')).toHaveLength(1);
  expect(intake.isPaused).toBe(false);
  expect(log.filter((entry) => entry.startsWith('x'))).toHaveLength(5);
});

test('audio keeps the time of its arrival while it waits', async () => {
  const confirmer = new Confirmer();
  const arrivals: number[] = [];
  const intake = new Intake({
    confirmer,
    owner: 'account',
    onAudio: (_frame, atMs) => arrivals.push(atMs),
    onPause: () => {},
    onResume: () => {},
  });
  intake.audio(Buffer.from('a'), 5);
  intake.listen(true, 0);
  intake.audio(Buffer.from('b'), 17);
  confirmer.answers[0]?.(VERDICTS);
  await new Promise(setImmediate);
  expect(arrivals).toEqual([5, 17]);
});

test('what arrives during a hold waits, with the socket paused, and a release ends the hold', async () => {
  const { log, intake } = start(null);
  const held = Promise.withResolvers<void>();
  intake.hold(held.promise);
  intake.audio(Buffer.from('a'), 0);
  intake.other(() => log.push('flush'));
  expect(log).toEqual(['pause']);
  held.resolve();
  await new Promise(setImmediate);
  expect(log).toEqual(['pause', 'a', 'flush', 'resume']);
  intake.hold(new Promise(() => {}));
  intake.audio(Buffer.from('b'), 0);
  intake.release();
  expect(log.slice(4)).toEqual(['pause', 'b', 'resume']);
});

test('a hold that a message asks for is in front of what arrived with the message', async () => {
  const confirmer = new Confirmer();
  const { log, intake } = start(confirmer);
  intake.listen(true, 0);
  intake.audio(Buffer.from('a'), 0);
  const held = Promise.withResolvers<void>();
  intake.other(() => intake.hold(held.promise));
  intake.other(() => log.push('flush'));
  confirmer.answers[0]?.(VERDICTS);
  await new Promise(setImmediate);
  expect(log).toEqual(['a+', 'pause']);
  held.resolve();
  await new Promise(setImmediate);
  expect(log).toEqual(['a+', 'pause', 'flush', 'resume']);
});
