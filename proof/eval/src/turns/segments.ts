import type { SpeechDetector } from '@svc-asr/engine';
import { AUDIO } from '@svc-asr/protocol';

const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1_000;

/** A stretch that the detector took for speech. All fields are samples of the stream. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  /** When the start was known. */
  readonly startedAt: number;
  /** When the turn ended. Null if it had not at the end of the stream. */
  readonly endpoint: number | null;
  /** Whether a second detector heard speech too. Null if none listened. */
  readonly confirmed: boolean | null;
}

/** Runs a detector over a stream and ends turns after `silenceMs` of silence, as the gateway does. */
export function segmentsOf(
  detector: SpeechDetector,
  samples: Int16Array,
  silenceMs: number,
): Segment[] {
  const segments: Segment[] = [];
  let startedAt: number | null = null;
  for (let at = 0; at < samples.length;) {
    const before = at;
    at = Math.min(samples.length, at + detector.missing);
    const verdict = detector.push(samples.subarray(before, at));
    if (verdict === null || !verdict.speaking || verdict.speech === null) continue;
    const { startSample: start, lastSample: end } = verdict.speech;
    if (startedAt === null) {
      startedAt = at;
      segments.push({ start, end, startedAt, endpoint: null, confirmed: null });
    }
    const over = at - end >= silenceMs * SAMPLES_PER_MS && verdict.isOnset !== true;
    const { confirmed = null } = verdict;
    segments[segments.length - 1] = {
      start,
      end,
      startedAt,
      endpoint: over ? at : null,
      confirmed,
    };
    if (!over) continue;
    startedAt = null;
    detector.endSpeech();
  }
  return segments;
}
