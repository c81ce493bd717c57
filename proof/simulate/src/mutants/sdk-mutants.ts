import { during, mutant, type Mutant } from './mutant.ts';

const BUFFER = 'clients/sdk/src/stream/replay-buffer.ts';
const RECEIVER = 'clients/sdk/src/stream/receiver.ts';

/** Bugs in the SDK's stream. */
export const SDK_MUTANTS: readonly Mutant[] = [
  during(
    'reset-connection',
    mutant('sdk-audio-not-sent-again', 'After a failure only new audio is sent.', {
      in: BUFFER,
      from: "this.#entries = this.#entries.filter((entry) => entry.kind !== 'reset');\n    this.#cursor = 0;",
      to: "this.#entries = this.#entries.filter((entry) => entry.kind !== 'reset');\n    this.#cursor = Math.min(this.#cursor, this.#entries.length);",
    }),
  ),
  mutant('sdk-flush-not-sent-again', 'After a failure a pending flush is forgotten.', {
    in: BUFFER,
    from: `filter((entry) => entry.kind !== 'reset')`,
    to: `filter((entry) => entry.kind === 'audio')`,
  }),
  during(
    'reset-connection',
    mutant(
      'sdk-settled-audio-sent-again',
      'Audio that has its final is sent to the next session.',
      {
        in: BUFFER,
        from: 'const done = this.#entries.splice(0, to);\n    this.#cursor = Math.max(0, this.#cursor - to);',
        to: 'const done = this.#entries.slice(0, to);\n    this.#cursor -= this.#entries.splice(Math.max(0, to - 1), Math.min(1, to)).length;',
      },
    ),
  ),
  during(
    'reset-connection',
    mutant('sdk-endpoint-settles-too-much', 'An endpoint settles audio that came after it.', {
      in: BUFFER,
      from: 'if (samplesIn(entry) > left) this.#split(to, left);',
      to: '',
    }),
  ),
  during(
    'reset-connection',
    mutant(
      'sdk-old-deltas-shown',
      'Deltas that the caller has seen are shown again after a failure.',
      {
        in: 'clients/sdk/src/stream/transcript.ts',
        from: 'if (event.audio_ms < this.#shownMs) return null;',
        to: '',
      },
    ),
  ),
  during(
    'drain',
    mutant('sdk-cut-final-accepted', 'The final of a server that restarts ends the utterance.', {
      in: RECEIVER,
      from: `if (event.reason === 'draining' && sessions.hasMore) {`,
      to: `if (event.reason === 'draining' && !sessions.hasMore) {`,
    }),
  ),
  mutant('sdk-one-key-for-all', 'All sessions of a stream share one idempotency key.', {
    in: 'clients/sdk/src/stream/session-source.ts',
    from: 'const request = { ...need, idempotencyKey: this.#unansweredKey ?? this.#newKey() };',
    to: `const request = { ...need, idempotencyKey: 'one key' };`,
  }),
  during(
    'engine-death',
    mutant('sdk-waits-for-itself', 'A stream waits until its own unused session expires.', {
      in: 'clients/sdk/src/stream/limits.ts',
      from: 'const ANOTHER_MS_MAX = 3_000;',
      to: 'const ANOTHER_MS_MAX = 120_000;',
    }),
  ),
  during(
    'reset-connection',
    mutant('sdk-gives-up-at-once', 'The stream ends with its first failed session.', {
      in: 'clients/sdk/src/stream/failover.ts',
      from: 'if (!isFirst || waitMs === null) return waitMs;',
      to: 'return isFirst ? null : waitMs;',
    }),
  ),
  mutant('sdk-lost-wake-up', 'A stream that waits for audio does not notice it.', {
    in: 'clients/sdk/src/stream/svc-stream.ts',
    from: '#onChange(): void {\n    this.#wake?.();',
    to: '#onChange(): void {',
  }),
  during(
    'half-open',
    mutant('sdk-dead-connection-kept', 'A connection that does not answer is never given up.', {
      in: 'clients/sdk/src/stream/liveness.ts',
      from: `if (waitedMs > LOST_MS + 4 * question.unreadMs) return 'lost';`,
      to: '',
    }),
  ),
  mutant('sdk-rollover-too-late', 'The stream does not stop at the end of its reservation.', {
    in: 'clients/sdk/src/stream/sender.ts',
    from: 'const entry = this.#buffer.next(connection.samplesLeft);',
    to: 'const entry = this.#buffer.next();',
  }),
  during(
    ['lost-answer', 'silent-api'],
    mutant(
      'sdk-lost-session-reserved-again',
      'A call after one without an answer uses another key.',
      {
        in: 'clients/sdk/src/unanswered-keys.ts',
        from: 'this.#kept = [...this.#kept, used].slice(-KEPT_MAX);',
        to: '',
      },
    ),
  ),
  during(
    'half-open',
    mutant('sdk-silent-socket-kept', 'A socket whose server is gone is never closed.', {
      in: 'clients/sdk/src/stream/socket-node.ts',
      from: 'socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy());',
      to: '',
    }),
  ),
];
