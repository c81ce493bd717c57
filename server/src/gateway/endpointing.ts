import type { FrameVerdict, SpeechDetector, VoiceVerdicts } from '@svc-asr/engine/core.ts';
import { AUDIO, ENDPOINTING, type ServerEvent } from '@svc-asr/protocol';
import { momentMs } from './metering.ts';
import type { Action, Marker, Step, StreamState } from './stream-state.ts';

/** Detects the end of each turn, if the client enabled it. See docs/streaming.md. */

export interface EndpointingRules {
  readonly silenceMs: number;
  readonly maxUtteranceMs: number;
  /** Undefined if the client named none. */
  readonly detector?: Detector | undefined;
}

type Detector = (typeof ENDPOINTING.detectors)[number];

/** The state of endpointing. The detector holds the audio's recent past and changes with every frame. */
export interface Turns {
  readonly rules: EndpointingRules;
  readonly detector: SpeechDetector;
  /** The stream's sample at which the detector began to listen. */
  readonly originSample: number;
  /** End of the announced speech so far, in samples of the stream. Null between turns. */
  readonly speechEndSample: number | null;
  /** Where speech started that was not announced yet. Null between turns and after the announcement. */
  readonly unannouncedSample: number | null;
  /** A second detector listens too. */
  readonly isConfirming: boolean;
}

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
/** Endpoints wait while this many finals are outstanding. */
const FINALS_PENDING_MAX = 32;

/** Reads `config.endpointing`: rules, null for false, or undefined when it is invalid. */
export function parseEndpointing(value: unknown): EndpointingRules | null | undefined {
  if (value === false) return null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = new Map(Object.entries(value));
  const silenceMs = integerIn(fields.get('silence_ms'), ENDPOINTING.silenceMs);
  const maxUtteranceMs = integerIn(fields.get('max_utterance_ms'), ENDPOINTING.maxUtteranceMs);
  const detector = ENDPOINTING.detectors.find((name) => name === fields.get('detector'));
  if (silenceMs === null || maxUtteranceMs === null) return undefined;
  if (detector === undefined && fields.get('detector') !== undefined) return undefined;
  return { silenceMs, maxUtteranceMs, detector };
}

function integerIn(
  value: unknown,
  range: { min: number; max: number; default: number },
): number | null {
  if (value === undefined) return range.default;
  if (typeof value !== 'number' || !Number.isInteger(value)) return null;
  return value >= range.min && value <= range.max ? value : null;
}

/**
 * Turns endpointing on or off, or changes its rules. A running detector keeps its noise floor. Speech that was announced
 * is ended when endpointing is turned off.
 */
export function configureEndpointing(state: StreamState, rules: EndpointingRules | null): Step {
  if (rules === null) {
    const [quiet, announced] = endSpeech(state);
    return [{ ...quiet, turns: null }, announced];
  }
  const detector = rules.detector ?? state.turns?.rules.detector ?? ENDPOINTING.detector;
  const isConfirming = detector === 'confirmed' && state.canConfirm;
  if (state.turns !== null) {
    const named = { ...rules, detector: rules.detector ?? state.turns.rules.detector };
    return [{ ...state, turns: { ...state.turns, rules: named, isConfirming } }, []];
  }
  const originSample = state.meter.acceptedSamples;
  const turns: Turns = {
    rules,
    detector: state.createDetector(originSample),
    originSample,
    speechEndSample: null,
    unannouncedSample: null,
    isConfirming,
  };
  return [{ ...state, turns }, []];
}

/** Recognises accepted audio, and ends an utterance at the exact sample where its silence is long enough. */
export function recogniseTurns(
  state: StreamState,
  { pcm, voice }: { pcm: Uint8Array; voice: VoiceVerdicts | null },
  initial: Turns,
): Step {
  if (voice !== null) {
    const startSample = voice.startSample - initial.originSample;
    initial.detector.confirm?.({ ...voice, startSample });
  }
  const samples = toSamples(pcm);
  const firstSample = state.meter.acceptedSamples - samples.length;
  const actions: Action[] = [];
  let now = state;
  let turns = initial;
  let recognised = 0;
  for (let at = 0; at < samples.length;) {
    const end = Math.min(samples.length, at + turns.detector.missing);
    const verdict = turns.detector.push(samples.subarray(at, end));
    at = end;
    if (verdict === null) continue;
    const heard = follow(now, turns, verdict);
    turns = heard.turns;
    actions.push(...heard.actions);
    now = { ...now, turns };
    const atSample = firstSample + at;
    if (!isOver(now, turns, verdict, atSample)) continue;
    actions.push({ do: 'recognize', pcm: bytesOf(pcm, recognised, at) });
    recognised = at;
    const [next, ending] = endUtterance(now, turns, atSample);
    actions.push(...ending);
    now = next;
    turns = now.turns ?? turns;
  }
  if (recognised < samples.length) {
    actions.push({ do: 'recognize', pcm: bytesOf(pcm, recognised, samples.length) });
  }
  return [now, actions];
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
  if (turns === null) return [state, []];
  turns.detector.endSpeech();
  if (turns.speechEndSample === null) return [state, []];
  const ended: ServerEvent = {
    type: 'speech_ended',
    utterance: state.utterance,
    audio_ms: momentMs(Math.max(turns.speechEndSample, state.utteranceStartSample)),
  };
  const silent = { ...turns, speechEndSample: null, unannouncedSample: null };
  return [{ ...state, turns: silent }, [...announce(state, turns, false), send(ended)]];
}

/** Keeps track of the speech, and announces its start: at once, or when it is confirmed. */
function follow(
  state: StreamState,
  turns: Turns,
  { speaking, speech, confirmed = null, endSample }: FrameVerdict,
): { turns: Turns; actions: readonly Action[] } {
  if (!speaking || speech === null) return { turns, actions: [] };
  const isNew = turns.speechEndSample === null;
  const now: Turns = {
    ...turns,
    speechEndSample: turns.originSample + speech.lastSample,
    unannouncedSample: isNew ? turns.originSample + speech.startSample : turns.unannouncedSample,
  };
  const lastedMs = (endSample - speech.startSample) / SAMPLES_PER_MS;
  if (confirmed === false && lastedMs < UNCONFIRMED_MS) return { turns: now, actions: [] };
  const actions = announce(state, now, confirmed);
  return { turns: actions.length > 0 ? { ...now, unannouncedSample: null } : now, actions };
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
  if (silentMs >= rules.silenceMs) return true;
  return utteranceMs >= NEARLY_TOO_LONG * rules.maxUtteranceMs && silentMs >= SHORT_PAUSE_MS;
}

function mayEnd(state: StreamState): boolean {
  return state.markers.length < FINALS_PENDING_MAX;
}

function endUtterance(state: StreamState, turns: Turns, endSample: number): Step {
  const marker: Marker = {
    ask: 'final',
    utterance: state.utterance,
    reason: 'endpoint',
    id: undefined,
    startSample: state.utteranceStartSample,
    originSample: state.utteranceOriginSample,
    endSample,
  };
  const [quiet, announced] = endSpeech({ ...state, turns });
  const next: StreamState = {
    ...quiet,
    utterance: state.utterance + 1,
    utteranceStartSample: endSample,
    utteranceOriginSample: endSample,
    markers: [...state.markers, marker],
  };
  return [next, [...announced, { do: 'flush' }]];
}

/**
 * An endpoint in which nothing was recognised (a cough, a door, music) is not sent: its audio joins the next utterance.
 * Null when the final must be sent after all, because something is waiting behind it.
 */
export function joinEmptyEndpoint(
  state: StreamState,
  marker: Marker & { ask: 'final' },
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
