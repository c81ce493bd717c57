import type { FrameVerdict, Peeked, SpeechDetector, VoiceVerdicts } from '@svc-asr/engine/core.ts';
import { AUDIO, ENDPOINTING, type ServerEvent } from '@svc-asr/protocol';
import { momentMs } from './metering.ts';
import { finalEvent } from './final-event.ts';
import {
  andThen,
  beginUtterance,
  markUtterance,
  type Action,
  type FinalMarker,
  type Step,
  type StreamState,
} from './stream-state.ts';
import type { Eager, EndpointingRules, Turns } from './turns.ts';

/** Detects the end of each turn, if the client enabled it. See docs/streaming.md. */

const ENDPOINT = { reason: 'endpoint' } as const;
const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1000;
/** From this share of the longest utterance on, a short pause ends it. */
const NEARLY_TOO_LONG = 0.75;
const SHORT_PAUSE_MS = 200;
/** Speech that the second detector hasn't confirmed is announced this long after its start. */
const UNCONFIRMED_MS = 600;
/**
 * A turn whose audio stops arriving ends after this long. Until then the audio may only be late: time without audio is
 * no silence.
 */
const STALLED_TURN_MS = 15_000;
/** The text so far is asked for at most twice a second. */
const EAGER_SAMPLES_MIN = AUDIO.sampleRateHz / 2;
/** Endpoints wait while this many finals are outstanding. */
const FINALS_PENDING_MAX = 32;

/**
 * Turns endpointing on or off, or changes its rules. Speech that was announced is ended when endpointing is turned off.
 */
export function configureEndpointing(state: StreamState, asked: EndpointingRules | null): Step {
  if (asked === null) {
    const [quiet, announced] = andThen(resumeTurn(state), endSpeech);
    return [{ ...quiet, turns: null }, announced];
  }
  const rules = state.canPeek ? asked : { ...asked, eagerMs: undefined };
  const detector = rules.detector ?? ENDPOINTING.detector;
  const isConfirming = detector === 'confirmed' && state.canConfirm;
  if (state.turns !== null) {
    return [{ ...state, turns: { ...state.turns, rules, isConfirming } }, []];
  }
  const turns: Turns = {
    rules,
    originSample: state.meter.acceptedSamples,
    utterance: state.utterance,
    speechEndSample: null,
    unannouncedSample: null,
    isConfirming,
    eager: null,
    eagers: 0,
    eagerSample: -Infinity,
  };
  return [{ ...state, turns }, []];
}

interface TurnAudio {
  readonly pcm: Uint8Array;
  readonly detector: SpeechDetector;
  readonly voice: VoiceVerdicts | null;
}

/** Feeds accepted audio to the engine, and ends an utterance at the exact sample where its silence is long enough. */
export function feedTurns(
  state: StreamState,
  { pcm, detector, voice }: TurnAudio,
  initial: Turns,
): Step {
  if (voice !== null) {
    const startSample = voice.startSample - initial.originSample;
    detector.confirm?.({ ...voice, startSample });
  }
  const samples = toSamples(pcm);
  const firstSample = state.meter.acceptedSamples - samples.length;
  const actions: Action[] = [];
  let next = state;
  let turns = initial;
  let fed = 0;
  for (let at = 0; at < samples.length;) {
    if (turns.utterance !== next.utterance) {
      detector.endSpeech();
      turns = { ...turns, utterance: next.utterance };
    }
    const end = Math.min(samples.length, at + detector.missing);
    const verdict = detector.push(samples.subarray(at, end));
    at = end;
    if (verdict === null) continue;
    const followed = follow(next, turns, verdict);
    turns = followed.turns;
    actions.push(...followed.actions);
    const atSample = firstSample + at;
    const isEnd = isOver(next, turns, verdict, atSample);
    const speculated = isEnd ? null : speculate(next, turns, verdict, atSample);
    if (speculated !== null) {
      turns = speculated.turns;
      actions.push(...speculated.resumed);
    }
    if (!isEnd && speculated?.isAsking !== true) continue;
    actions.push({ do: 'feed', pcm: bytesOf(pcm, fed, at) });
    fed = at;
    if (!isEnd) {
      actions.push({ do: 'peek', number: turns.eagers });
      continue;
    }
    const [ended, ending] = endUtterance(next, turns, atSample);
    actions.push(...ending);
    next = ended;
    turns = next.turns ?? turns;
  }
  if (fed < samples.length) {
    actions.push({ do: 'feed', pcm: bytesOf(pcm, fed, samples.length) });
  }
  return [{ ...next, turns }, actions];
}

/** Ends an utterance after a timeout when its audio stops arriving, as with a muted microphone. */
export function endStalledTurn(state: StreamState, nowMs: number): Step {
  const { turns } = state;
  if (turns === null || turns.speechEndSample === null) return [state, []];
  if (nowMs - state.lastAudioAtMs < STALLED_TURN_MS) return [state, []];
  if (!mayEnd(state)) return [state, []];
  return endUtterance(state, turns, state.meter.acceptedSamples);
}

/** Announces the end of speech that is cut short by a flush, a reset or the end of the stream. */
export function endSpeech(state: StreamState): Step {
  const { turns } = state;
  if (turns === null || turns.speechEndSample === null) return [state, []];
  const ended: ServerEvent = {
    type: 'speech_ended',
    utterance: state.utterance,
    audio_ms: momentMs(Math.max(turns.speechEndSample, state.utteranceStartSample)),
  };
  const silent = { ...turns, speechEndSample: null, unannouncedSample: null, eager: null };
  return [{ ...state, turns: silent }, [...announce(state, turns, false), send(ended)]];
}

/** Takes `turn_eager` back because the utterance gets no final of its own. */
export function resumeTurn(state: StreamState): Step {
  const { turns } = state;
  if (turns === null || turns.eager === null) return [state, []];
  return [{ ...state, turns: { ...turns, eager: null } }, resumed(state.utterance, turns.eager)];
}

/** The answer to the question about the text so far. It is late if speech goes on or the utterance has ended. */
export function onPeeked(state: StreamState, peeked: Peeked & { readonly number: number }): Step {
  const { turns } = state;
  const { text, number } = peeked;
  if (turns?.eager?.number !== number || text === '') return [state, []];
  const eager = { ...turns.eager, text };
  const { words, confidence, text_formatted } = finalEvent(
    state,
    markUtterance(state, ENDPOINT),
    peeked,
  );
  const sent: ServerEvent = {
    type: 'turn_eager',
    utterance: state.utterance,
    eager: number,
    text,
    words,
    ...(confidence === undefined ? {} : { confidence }),
    ...(text_formatted === undefined ? {} : { text_formatted }),
    audio_ms: momentMs(eager.speechEndSample),
  };
  return [{ ...state, turns: { ...turns, eager } }, [send(sent)]];
}

/** Asks for the text so far after a short pause, once per pause. Takes it back if speech goes on. */
function speculate(
  state: StreamState,
  turns: Turns,
  verdict: FrameVerdict,
  atSample: number,
): { turns: Turns; resumed: readonly Action[]; isAsking: boolean } {
  const { eager, rules, speechEndSample, originSample } = turns;
  const nothing = { turns, resumed: [], isAsking: false };
  if (speechEndSample === null) return nothing;
  if (eager !== null) {
    if (speechEndSample <= eager.speechEndSample) return nothing;
    return {
      ...nothing,
      turns: { ...turns, eager: null },
      resumed: resumed(state.utterance, eager),
    };
  }
  const silentMs = (originSample + verdict.endSample - speechEndSample) / SAMPLES_PER_MS;
  const isPause = silentMs >= (rules.eagerMs ?? Infinity) && verdict.isOnset !== true;
  if (!isPause || atSample - turns.eagerSample < EAGER_SAMPLES_MIN) return nothing;
  const number = turns.eagers + 1;
  const asked = { number, speechEndSample, text: null };
  const next = { ...turns, eager: asked, eagers: number, eagerSample: atSample };
  return { turns: next, resumed: [], isAsking: true };
}

/** Only of events that were sent. */
export function resumed(utterance: number, eager: Eager | null): readonly Action[] {
  if (eager === null || eager.text === null) return [];
  return [send({ type: 'turn_resumed', utterance, eager: eager.number })];
}

/** Keeps track of the speech, and announces its start: at once, or when it is confirmed. */
function follow(
  state: StreamState,
  turns: Turns,
  { speaking, speech, confirmed = null, endSample }: FrameVerdict,
): { turns: Turns; actions: readonly Action[] } {
  if (!speaking || speech === null) return { turns, actions: [] };
  const isNew = turns.speechEndSample === null;
  const next: Turns = {
    ...turns,
    speechEndSample: turns.originSample + speech.lastSample,
    unannouncedSample: isNew ? turns.originSample + speech.startSample : turns.unannouncedSample,
  };
  const lastedMs = (endSample - speech.startSample) / SAMPLES_PER_MS;
  if (confirmed === false && lastedMs < UNCONFIRMED_MS) return { turns: next, actions: [] };
  const actions = announce(state, next, confirmed);
  return { turns: actions.length > 0 ? { ...next, unannouncedSample: null } : next, actions };
}

function announce(
  state: StreamState,
  { unannouncedSample }: Turns,
  confirmed: boolean | null,
): readonly Action[] {
  if (unannouncedSample === null) return [];
  const started: ServerEvent = {
    type: 'speech_started',
    utterance: state.utterance,
    audio_ms: momentMs(Math.max(unannouncedSample, state.utteranceStartSample)),
    ...(confirmed === null ? {} : { confirmed }),
  };
  return [send(started)];
}

function send(event: ServerEvent): Action {
  return { do: 'send', event };
}

function isOver(
  state: StreamState,
  { rules, speechEndSample, originSample }: Turns,
  verdict: FrameVerdict,
  atSample: number,
): boolean {
  if (!mayEnd(state)) return false;
  const utteranceMs = (atSample - state.utteranceOriginSample) / SAMPLES_PER_MS;
  if (utteranceMs >= rules.maxUtteranceMs) return true;
  if (speechEndSample === null) return false;
  const silentMs = (originSample + verdict.endSample - speechEndSample) / SAMPLES_PER_MS;
  if (silentMs >= rules.silenceMs && verdict.isOnset !== true) return true;
  return utteranceMs >= NEARLY_TOO_LONG * rules.maxUtteranceMs && silentMs >= SHORT_PAUSE_MS;
}

function mayEnd(state: StreamState): boolean {
  return state.markers.length < FINALS_PENDING_MAX;
}

function endUtterance(state: StreamState, turns: Turns, endSample: number): Step {
  const marker = markUtterance({ ...state, turns }, { ...ENDPOINT, endSample });
  const [quiet, announced] = endSpeech({ ...state, turns });
  const next = { ...beginUtterance(quiet, endSample), markers: [...state.markers, marker] };
  return [next, [...announced, { do: 'flush' }]];
}

/**
 * An endpoint in which nothing was recognised (a cough, a door, music) is not sent: its audio joins the next utterance.
 * Null when the final must be sent after all, because something is waiting behind it.
 */
export function joinEmptyEndpoint(
  state: StreamState,
  marker: FinalMarker,
  text: string,
): StreamState | null {
  const isLast = state.markers.length === 1 && state.utterance === marker.utterance + 1;
  if (marker.reason !== 'endpoint' || text !== '' || !isLast) return null;
  if (state.phase !== 'streaming') return null;
  return { ...state, markers: [], utteranceStartSample: marker.startSample };
}

function bytesOf(pcm: Uint8Array, fromSample: number, toSample: number): Uint8Array {
  const bytes = AUDIO.bytesPerSample;
  return fromSample === 0 && toSample * bytes === pcm.byteLength
    ? pcm
    : pcm.subarray(fromSample * bytes, toSample * bytes);
}

/** Returns a view if the bytes are aligned, else a copy. `slice()` of a Buffer would be a view again. */
function toSamples(pcm: Uint8Array): Int16Array {
  const aligned = pcm.byteOffset % AUDIO.bytesPerSample === 0 ? pcm : new Uint8Array(pcm);
  return new Int16Array(aligned.buffer, aligned.byteOffset, pcm.byteLength / AUDIO.bytesPerSample);
}
