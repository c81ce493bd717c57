import { during, harmless, mutant, type Mutant } from './mutant.ts';

const STREAM = 'core/server/src/gateway/rules/stream.ts';
const MESSAGES = 'core/server/src/gateway/rules/stream-messages.ts';
const STATE = 'core/server/src/gateway/rules/stream-state.ts';
const FINISHING = 'core/server/src/gateway/rules/finishing.ts';
const ENDPOINTING = 'core/server/src/gateway/rules/endpointing.ts';

/** Bugs in the rules of a stream. */
export const STREAM_MUTANTS: readonly Mutant[] = [
  mutant('missing-cap', 'Audio beyond the reservation is accepted.', {
    in: 'core/server/src/gateway/rules/metering.ts',
    from: 'const samples = Math.min(room, bytes.byteLength >> 1);',
    to: 'const samples = bytes.byteLength >> 1;',
  }),
  mutant('half-sample-lost', 'The odd byte at the end of a frame is dropped.', {
    in: 'core/server/src/gateway/rules/metering.ts',
    from: 'meter.carriedByte === null ? frame : prepend(meter.carriedByte, frame);',
    to: 'meter.carriedByte === null ? frame : prepend(meter.carriedByte, frame).subarray(1);',
  }),
  harmless(
    'the replay drops deltas of dropped utterances before',
    mutant('final-before-delta', 'Deltas of an utterance are sent after its final or reset.', {
      in: STREAM,
      from: `return !state.markers.some((marker) => marker.ask === 'final' && marker.utterance === utterance);`,
      to: 'return false;',
    }),
  ),
  mutant('silent-abnormal-close', 'A stream that fails closes without an error event.', {
    in: STATE,
    from: `return [{ ...state, phase: 'closed' }, [error, { do: 'close', ending, samples }]];`,
    to: `return [{ ...state, phase: 'closed' }, error.do === 'send' ? [{ do: 'close', ending, samples }] : []];`,
  }),
  during(
    'drain',
    mutant('restart-is-charged', 'A stream that a restart cuts is charged.', {
      in: STATE,
      from: `  'service_restart',\n`,
      to: '',
    }),
  ),
  during(
    'drain',
    mutant('drained-stream-completes', 'A stream cut at the end of a drain ends as completed.', {
      in: FINISHING,
      from: `if (because === 'draining') return closeWithError(state, 'service_restart');`,
      to: `if (because === 'draining') return close(state, 'completed', samples);`,
    }),
  ),
  during(
    'engine-stall',
    mutant('late-final-is-charged', 'Audio without its final is charged when a client leaves.', {
      in: FINISHING,
      from: 'const samples = unanswered?.startSample ?? state.meter.acceptedSamples;',
      to: 'const samples = unanswered === null ? 0 : state.meter.acceptedSamples;',
    }),
  ),
  mutant('last-final-not-awaited', 'A client that closes gets no final of its last audio.', {
    in: STREAM,
    from: `case 'streaming':
      return finish(state, { because: 'closing', nowMs });`,
    to: `case 'streaming':
      return close(state, 'completed');`,
  }),
  mutant(
    'replies-overtake-finals',
    'Replies are sent before the finals that were requested first.',
    {
      in: 'core/server/src/gateway/rules/replies.ts',
      from: 'if (state.markers.length === 0) return',
      to: 'if (state.markers.length >= 0) return',
    },
  ),
  mutant('reset-keeps-audio', 'The final after a reset covers the dropped audio too.', {
    in: MESSAGES,
    from: 'const fresh = beginUtterance(quiet, state.meter.acceptedSamples);',
    to: 'const fresh = { ...beginUtterance(quiet, state.meter.acceptedSamples), utteranceStartSample: state.utteranceStartSample };',
  }),
  mutant('odd-offset', 'Audio at an odd offset of its buffer ends the process.', {
    in: ENDPOINTING,
    from: 'pcm.byteOffset % AUDIO.bytesPerSample === 0 ? pcm : new Uint8Array(pcm);',
    to: 'pcm.byteOffset % AUDIO.bytesPerSample === 0 ? pcm : pcm.slice();',
  }),
  mutant('receipt-forgets-the-last-utterance', 'A final states the cost before its own audio.', {
    in: 'core/server/src/gateway/rules/final-event.ts',
    from: 'billableMs(state.meter, marker.endSample),',
    to: 'billableMs(state.meter, marker.startSample),',
  }),
  mutant(
    'half-sample-joined-wrongly',
    'The odd byte of a frame is joined to the next as silence.',
    {
      in: 'core/server/src/gateway/rules/metering.ts',
      from: 'bytes[0] = first;',
      to: 'bytes[0] = 0;',
    },
  ),
  during(
    'reset-connection',
    mutant('broken-connection-is-free', 'A client that hangs up pays nothing.', {
      in: 'core/server/src/gateway/rules/stream.ts',
      from: `export function onConnectionLost(state: StreamState): Step {
  return close(state, 'completed');`,
      to: `export function onConnectionLost(state: StreamState): Step {
  return close(state, 'completed', 0);`,
    }),
  ),
  mutant('keyterms-lost-with-turns', 'Keyterms are ignored while turns are detected.', {
    in: 'core/server/src/gateway/rules/stream-messages.ts',
    from: "actions: state.takesKeyterms ? [{ do: 'expect', keyterms: taken }] : [],",
    to: "actions: state.takesKeyterms && state.turns === null ? [{ do: 'expect', keyterms: taken }] : [],",
  }),
];
