import { VoiceActivity, type SpeechDetector } from '@svc-asr/engine';
import { AUDIO } from '@svc-asr/protocol';
import type { Conversation } from './conversation.ts';

const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1000;
/** An endpoint belongs to a turn if it comes this soon after the silence is long enough. */
const LATE_MS = 500;

export interface Detection {
  turns: number;
  hours: number;
  /** Endpoints in the middle of a turn. */
  cut: number;
  /** Turns without an endpoint. */
  missed: number;
}

export function emptyDetection(): Detection {
  return { turns: 0, hours: 0, cut: 0, missed: 0 };
}

/** Runs the detector alone on a conversation, faster than real time, and counts its errors. */
export function detect(
  tally: Detection,
  conversation: Conversation,
  input: { pcm: Uint8Array; silenceMs: number; detector?: SpeechDetector },
): void {
  const samples = new Int16Array(input.pcm.slice().buffer);
  const { detector = new VoiceActivity() } = input;
  const endpoints: number[] = [];
  for (let at = 0; at < samples.length;) {
    const end = Math.min(samples.length, at + detector.missing);
    const verdict = detector.push(samples.subarray(at, end));
    at = end;
    if (verdict === null || !verdict.speaking || verdict.speech === null) continue;
    if (verdict.isOnset === true) continue;
    if (at - verdict.speech.lastSample < input.silenceMs * SAMPLES_PER_MS) continue;
    endpoints.push(at);
    detector.endSpeech();
  }
  tally.hours += samples.length / AUDIO.sampleRateHz / 3600;
  for (const { startSample, endSample } of conversation.turns) {
    const latest = endSample + (input.silenceMs + LATE_MS) * SAMPLES_PER_MS;
    tally.turns += 1;
    tally.cut += endpoints.filter((at) => at > startSample && at < endSample).length;
    if (!endpoints.some((at) => at >= endSample && at <= latest)) tally.missed += 1;
  }
}
