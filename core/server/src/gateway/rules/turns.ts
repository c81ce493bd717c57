import { ENDPOINTING } from '@svc-asr/protocol';

export interface EndpointingRules {
  readonly silenceMs: number;
  readonly maxUtteranceMs: number;
  /** Undefined if the client named none. */
  readonly detector?: Detector | undefined;
  /** Undefined: no `turn_eager`. */
  readonly eagerMs?: number | undefined;
}

type Detector = (typeof ENDPOINTING.detectors)[number];

/** The state of endpointing. */
export interface Turns {
  readonly rules: EndpointingRules;
  /** The stream's sample at which the detector began to listen. */
  readonly originSample: number;
  /** The utterance that the detector listens to. With the next one its speech starts anew. */
  readonly utterance: number;
  /** End of the announced speech so far, in samples of the stream. Null between turns. */
  readonly speechEndSample: number | null;
  /** Where speech started that was not announced yet. Null between turns and after the announcement. */
  readonly unannouncedSample: number | null;
  /** A second detector listens too. */
  readonly isConfirming: boolean;
  /** The question that the current pause led to. Null before it. */
  readonly eager: Eager | null;
  /** How many there were, and the sample of the last one. */
  readonly eagers: number;
  readonly eagerSample: number;
}

/** A turn that may be over. */
export interface Eager {
  readonly number: number;
  /** Where the pause begins. */
  readonly speechEndSample: number;
  /** The text that was sent. Null while the engine has not answered. */
  readonly text: string | null;
}

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
  if (fields.get('eager_ms') === undefined) return { silenceMs, maxUtteranceMs, detector };
  const { min, below } = ENDPOINTING.eagerMs;
  const eagerMs = integerIn(fields.get('eager_ms'), { min, max: silenceMs - below, default: min });
  return eagerMs === null ? undefined : { silenceMs, maxUtteranceMs, detector, eagerMs };
}

function integerIn(
  value: unknown,
  range: { min: number; max: number; default: number },
): number | null {
  if (value === undefined) return range.default;
  if (typeof value !== 'number' || !Number.isInteger(value)) return null;
  return value >= range.min && value <= range.max ? value : null;
}
