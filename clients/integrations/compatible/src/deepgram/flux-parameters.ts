import { ENDPOINTING } from '@svc-asr/protocol/constants.ts';
import type { Thresholds } from './messages.ts';
import { invalid, readCommon, type CommonOptions } from './parameters.ts';

/** Reads the query of `/v2/listen`. */

export interface FluxParameters extends CommonOptions {
  readonly thresholds: Thresholds;
  readonly silenceMs: number;
  /** Null: no eager ends of turn. */
  readonly eagerMs: number | null;
}

const READ: ReadonlySet<string> = new Set([
  'eager_eot_threshold',
  'eot_threshold',
  'eot_timeout_ms',
  'language_hint',
]);
const EOT = { least: 0.5, most: 1, default: 0.7 } as const;
const EAGER = { least: 0.3, most: 0.9 } as const;
const TIMEOUT_MS = { least: 500, most: 60_000, default: 5_000 } as const;
/** The service measures silence where Flux estimates confidence. With 0.7 a turn ends after its usual 700 ms. */
const SILENCE_MS_OF_CERTAINTY = 1_000;
/** With 0.5, which agents use, after the 250 ms that the service recommends. */
const EAGER_MS_OF_CERTAINTY = 500;

export function readFluxParameters(query: URLSearchParams): FluxParameters {
  const eot = readNumber(query, 'eot_threshold', EOT) ?? EOT.default;
  const timeoutMs = readNumber(query, 'eot_timeout_ms', TIMEOUT_MS) ?? TIMEOUT_MS.default;
  const eager = readNumber(query, 'eager_eot_threshold', EAGER);
  if (eager !== null && eager > eot) {
    throw invalid(
      'eager_eot_threshold',
      `eager_eot_threshold must not be greater than eot_threshold, which is ${eot}.`,
    );
  }
  const { silenceMs, eagerMs } = ENDPOINTING;
  const asked = eot === EOT.most ? timeoutMs : Math.min(timeoutMs, SILENCE_MS_OF_CERTAINTY * eot);
  const silence = Math.round(Math.min(silenceMs.max, asked));
  return {
    ...readCommon(query, READ),
    thresholds: {
      eot_threshold: eot,
      ...(eager !== null && { eager_eot_threshold: eager }),
      eot_timeout_ms: timeoutMs,
    },
    silenceMs: silence,
    eagerMs:
      eager === null
        ? null
        : Math.round(
            Math.max(eagerMs.min, Math.min(silence - eagerMs.below, EAGER_MS_OF_CERTAINTY * eager)),
          ),
  };
}

function readNumber(
  query: URLSearchParams,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | null {
  const given = query.get(name);
  if (given === null || given === '') return null;
  const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(given) ? Number(given) : NaN;
  if (value >= least && value <= most) return value;
  throw invalid(name, `${name} must be a number from ${least} to ${most}.`);
}
