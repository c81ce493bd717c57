import {
  CONTEXT_SIZE,
  CONTINUES_MAX,
  LIMITS,
  MODELS,
  readKeyterms,
  type ConfigAckEvent,
  type ResetAckEvent,
} from '@svc-asr/protocol';
import { readLostToken, type LostSession } from '@svc-asr/protocol/lost-host.ts';
import { configureEndpointing, endSpeech, resumeTurn } from './endpointing.ts';
import { costOf, EMPTY_RESULT, finalEvent, holdsWords } from './final-event.ts';
import type { MessageId, TextMessage } from './pcm-frames.ts';
import { audioMs } from './metering.ts';
import { offend } from './finishing.ts';
import { isFlushTooSoon, recentFlushes } from './flush-rate.ts';
import { reply, reportError } from './replies.ts';
import {
  andThen,
  beginUtterance,
  markUtterance,
  type Action,
  type Finishing,
  type Starting,
  type Step,
  type StreamState,
} from './stream-state.ts';
import { parseEndpointing } from './turns.ts';

/** Applies config, flush and reset to a stream. */

/** While this many finals and replies are outstanding, a flush is refused. */
export const FLUSHES_PENDING_MAX = 32;

type ConfigMessage = TextMessage & { type: 'config' };

export function onMessage(
  state: StreamState,
  input: { message: TextMessage; nowMs: number },
): Step {
  switch (state.phase) {
    case 'starting':
      return hold(state, input);
    case 'finishing':
      return [attachFlush(state, input.message), []];
    case 'closed':
      return [state, []];
    case 'streaming':
      return answer(state, input);
  }
}

/** A text message, a ping or a pong. */
export function onControl(state: StreamState, nowMs: number): Step {
  return spendAllowance(state, { nowMs, above: 'too_many_messages' });
}

/** An audio frame that is empty or holds less than 2 ms. */
export function onTinyFrame(state: StreamState, nowMs: number): Step {
  return spendAllowance(state, { nowMs, above: 'too_many_errors' });
}

/** All cheap frames share one rate limit, so that none can bypass it. Time earns it back, and so does accepted audio. */
function spendAllowance(
  state: StreamState,
  { nowMs, above }: { nowMs: number; above: 'too_many_messages' | 'too_many_errors' },
): Step {
  const earned = ((nowMs - state.allowanceAtMs) * LIMITS.textMessagesPerSecond) / 1000;
  const allowance = Math.min(LIMITS.textMessagesBurst, state.allowance + earned) - 1;
  if (allowance < 0) return offend(state, { code: above, nowMs });
  return [{ ...state, allowance, allowanceAtMs: nowMs }, []];
}

function hold(state: Starting, input: { message: TextMessage; nowMs: number }): Step {
  const { message, nowMs } = input;
  if (state.heldMessages.length >= LIMITS.textMessagesBurst) {
    return offend(state, { code: 'too_many_messages', nowMs });
  }
  return [{ ...state, heldMessages: [...state.heldMessages, message] }, []];
}

/** A flush at the audio limit is answered by the automatic final. */
function attachFlush(state: Finishing, message: TextMessage): Finishing {
  const last = state.markers.at(-1);
  if (message.type !== 'flush' || last?.ask !== 'final' || last.id !== undefined) return state;
  return { ...state, markers: [...state.markers.slice(0, -1), { ...last, id: message.id }] };
}

function answer(state: StreamState, input: { message: TextMessage; nowMs: number }): Step {
  const { message, nowMs } = input;
  switch (message.type) {
    case 'config':
      return configure(state, { message, nowMs });
    case 'flush':
      return flush(state, { id: message.id, nowMs });
    case 'reset':
      return reset(state, { id: message.id, nowMs });
    case 'invalid':
      return reportError(state, { code: message.code, id: message.id, nowMs });
  }
}

function configure(state: StreamState, input: { message: ConfigMessage; nowMs: number }): Step {
  const { message, nowMs } = input;
  const { id, language, context } = message;
  const refused = { id, ignored: message.fields, nowMs };
  if (language !== undefined && !denotes(state, language)) {
    return reportError(state, { code: 'language_mismatch', ...refused });
  }
  if (context !== undefined && !isOurContext(context)) {
    return reportError(state, { code: 'unsupported_context', ...refused });
  }
  const rules =
    message.endpointing === undefined ? undefined : parseEndpointing(message.endpointing);
  if (message.endpointing !== undefined && rules === undefined) {
    return reportError(state, { code: 'invalid_endpointing', ...refused });
  }
  if (message.keyterms !== undefined && !Array.isArray(message.keyterms)) {
    return reportError(state, { code: 'invalid_keyterms', ...refused });
  }
  const { numbers = state.numbers } = message;
  if (typeof numbers !== 'boolean') {
    return reportError(state, { code: 'invalid_numbers', ...refused });
  }
  const keyterms = expectKeyterms(state, message.keyterms);
  const lost = lostSessions(state, message.continues);
  const set = { ...state, numbers, namedLost: state.namedLost || lost.length > 0 };
  const [next, announced] = rules === undefined ? [set, []] : configureEndpointing(set, rules);
  const isEagerIgnored = rules?.eagerMs !== undefined && !state.canPeek;
  const event: ConfigAckEvent = {
    type: 'config_ack',
    ...withId(id),
    language: MODELS[state.session.model].languageCode,
    context: [...CONTEXT_SIZE],
    endpointing: presentEndpointing(next),
    ...keyterms.answer,
    numbers,
    ignored: [
      ...message.ignored,
      ...(isEagerIgnored ? ['endpointing.eager_ms'] : []),
      ...(message.continues !== undefined && lost.length === 0 ? ['continues'] : []),
    ],
  };
  const [replied, actions] = reply(next, { event, nowMs });
  const continued: readonly Action[] = lost.length > 0 ? [{ do: 'continue', lost }] : [];
  return [replied, [...announced, ...keyterms.actions, ...continued, ...actions]];
}

/** Only a stream without audio can continue others. Naming a wrong session changes no charge. */
function lostSessions({ meter, namedLost }: StreamState, tokens: unknown): LostSession[] {
  if (!Array.isArray(tokens) || namedLost || meter.acceptedSamples > 0) return [];
  return tokens.slice(0, CONTINUES_MAX).flatMap((token) => {
    return (typeof token === 'string' ? readLostToken(token) : null) ?? [];
  });
}

/** Keyterms never change in the middle of an utterance. The other settings are in force at once. */
function expectKeyterms(
  state: StreamState,
  list: readonly unknown[] | undefined,
): { answer: Pick<ConfigAckEvent, 'effective' | 'keyterms'>; actions: readonly Action[] } {
  if (list === undefined) return { answer: { effective: 'now' }, actions: [] };
  const { taken, refused } = readKeyterms(list, state.takesKeyterms);
  const hasAudio = state.meter.acceptedSamples > state.utteranceOriginSample;
  const effective = hasAudio && state.takesKeyterms ? 'next_utterance' : 'now';
  return {
    answer: { effective, keyterms: { taken: [...taken], refused: [...refused] } },
    actions: state.takesKeyterms ? [{ do: 'expect', keyterms: taken }] : [],
  };
}

function flush(state: StreamState, input: { id: MessageId | undefined; nowMs: number }): Step {
  const moment = { atMs: input.nowMs, sample: state.meter.acceptedSamples };
  const recent = recentFlushes(state.recentFlushes, moment);
  if (isFlushTooSoon(recent) || state.markers.length >= FLUSHES_PENDING_MAX) {
    return reportError(state, { code: 'flush_throttled', ...input });
  }
  const marker = markUtterance(state, { reason: 'flush', id: input.id });
  const [quiet, announced] = endSpeech(state);
  const next = {
    ...beginUtterance(quiet, marker.endSample),
    recentFlushes: [...recent, moment],
  };
  if (holdsWords(marker)) {
    return [{ ...next, markers: [...state.markers, marker] }, [...announced, { do: 'flush' }]];
  }
  const event = finalEvent(state, marker, EMPTY_RESULT);
  const [replied, actions] = reply(next, { event, nowMs: input.nowMs });
  return [replied, [...announced, { do: 'reset' }, ...actions]];
}

/** Drops whole samples since the last final. They were accepted, so they are still charged. */
function reset(state: StreamState, input: { id: MessageId | undefined; nowMs: number }): Step {
  const discarded = state.meter.acceptedSamples - state.utteranceStartSample;
  const [quiet, announced] = andThen(resumeTurn(state), endSpeech);
  const fresh = beginUtterance(quiet, state.meter.acceptedSamples);
  const event: ResetAckEvent = {
    type: 'reset_ack',
    ...withId(input.id),
    utterance: fresh.utterance,
    discarded_ms: audioMs(discarded),
    total_audio_ms: audioMs(state.meter.acceptedSamples),
    ...costOf(state.meter, state.meter.acceptedSamples),
  };
  const [next, actions] = reply(fresh, { event, nowMs: input.nowMs });
  return [next, [...announced, { do: 'reset' }, ...actions]];
}

function presentEndpointing({ turns }: StreamState): ConfigAckEvent['endpointing'] {
  if (turns === null) return false;
  const { silenceMs, maxUtteranceMs, detector, eagerMs } = turns.rules;
  return {
    silence_ms: silenceMs,
    max_utterance_ms: maxUtteranceMs,
    ...(eagerMs === undefined ? {} : { eager_ms: eagerMs }),
    ...(detector === undefined ? {} : { detector: turns.isConfirming ? 'confirmed' : 'level' }),
  };
}

function denotes(state: StreamState, language: unknown): boolean {
  if (typeof language !== 'string') return false;
  const spoken = language.toLowerCase();
  return MODELS[state.session.model].aliases.some((alias) => alias.toLowerCase() === spoken);
}

function isOurContext(context: unknown): boolean {
  return (
    Array.isArray(context) &&
    context.length === CONTEXT_SIZE.length &&
    CONTEXT_SIZE.every((frames, at) => context[at] === frames)
  );
}

function withId(id: MessageId | undefined): { id?: MessageId } {
  return id === undefined ? {} : { id };
}
