import { during, harmless, mutant, type Mutant } from './mutant.ts';

const STREAM = 'core/engine/src/replay/replay-stream.ts';
const UTTERANCE = 'core/engine/src/replay/utterance.ts';

/** Bugs in the replay of audio after the loss of a recogniser. */
export const ENGINE_MUTANTS: readonly Mutant[] = [
  during(
    'engine-death',
    mutant('replay-without-dedup', 'Deltas that a client has seen are sent again after a replay.', {
      in: UTTERANCE,
      from: 'return event.samples <= this.#shownSamples || event.text === this.#shownText;',
      to: 'return event.samples < 0;',
    }),
  ),
  during(
    'engine-death',
    mutant('replay-skips-utterances', 'Only the current utterance is replayed.', {
      in: STREAM,
      from: 'const attempt = new Attempt(inner, this.#first);',
      to: 'const attempt = new Attempt(inner, this.#current);',
    }),
  ),
  during(
    'engine-death',
    mutant('replay-loses-new-audio', 'Audio written during a replay is sent twice.', {
      in: STREAM,
      from: 'if (this.#replaying === null) return this.#attempt.write(pcm);',
      to: 'if (this.#replaying === null || pcm.byteLength < 4_000) return this.#attempt.write(pcm);',
    }),
  ),
  during(
    'engine-stall',
    mutant('replay-flushes-dropped-audio', 'An utterance that was reset is replayed and flushed.', {
      in: STREAM,
      from: 'else unlink(this.#first, dropped);',
      to: '',
    }),
  ),
  during(
    'engine-death',
    mutant('replay-flush-not-waited', 'A flush during a replay goes to the recogniser at once.', {
      in: STREAM,
      from: 'if (this.#replaying === null) this.#attempt.flush();',
      to: 'this.#attempt.flush();',
    }),
  ),
  during(
    'engine-death',
    mutant('replay-forgets-keyterms', 'A recogniser that replaces a lost one lacks keyterms.', {
      in: STREAM,
      from: `    this.utterances.set(0, first);
    this.expectKeyterms();`,
      to: '    this.utterances.set(0, first);',
    }),
  ),
  during(
    'engine-death',
    mutant('replay-takes-later-keyterms', 'Keyterms apply to the utterance that has begun.', {
      in: STREAM,
      from: 'if (this.#current.hasAudio) return;',
      to: '',
    }),
  ),
  mutant('replay-memory-leaks', 'Audio is kept after its final.', {
    in: STREAM,
    from: 'this.#flushedBytes -= utterance.audio.bytes;\n    utterance.audio.release();',
    to: 'this.#flushedBytes -= utterance.audio.bytes;',
  }),
  during(
    'engine-death',
    mutant('replay-never-catches-up', 'Writes that waited for a replay are not resumed.', {
      in: STREAM,
      from: 'this.#replaying?.resolve();\n        this.#replaying = null;\n        return true;',
      to: 'this.#replaying = null;\n        return true;',
    }),
  ),
  harmless(
    'the events of a recogniser end with its error or its close',
    mutant(
      'replay-old-recogniser-heard',
      'Events of a recogniser that was left are still delivered.',
      {
        in: STREAM,
        from: 'if (this.#over || attempt !== this.#attempt) return;',
        to: 'if (this.#over) return;',
      },
    ),
  ),
  mutant('event-lost-wake-up', 'A reader that waits misses an event.', {
    in: 'core/engine/src/event-queue.ts',
    from: `const deliver = this.#waiting;
      this.#waiting = undefined;
      deliver({ value: event, done: false });`,
    to: `const deliver = this.#waiting;
      this.#waiting = undefined;
      if (event.type !== 'final' || event.words.length % 3 !== 2) deliver({ value: event, done: false });`,
  }),
];
