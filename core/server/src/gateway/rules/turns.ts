import { ENDPOINTING } from '@svc-asr/protocol';

export interface EndpointingRules {
  readonly silenceMs: number;
  readonly maxUtteranceMs: number;
  /** Undefined if the client named none. */
  readonly detector?: Detector | undefined;
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
