import {
  Silero,
  SileroStream,
  VoiceActivity,
  type SpeechDetector,
  type VoiceVerdicts,
} from '@svc-asr/engine';
import type { ENDPOINTING } from '@svc-asr/protocol';
import { ownCpuMs } from '../statistics.ts';

export type DetectorName = (typeof ENDPOINTING.detectors)[number];

/** Prepares the detectors of some streams. `cpuMs` is what the second detector took for all of them together. */
export type Examine = (
  waves: readonly Int16Array[],
) => Promise<{ readonly detect: (stream: number) => SpeechDetector; readonly cpuMs: number }>;

export async function detectorFor(name: DetectorName): Promise<Examine> {
  if (name === 'level') {
    return () => Promise.resolve({ detect: () => new VoiceActivity(), cpuMs: 0 });
  }
  const silero = await Silero.load();
  return (waves) => {
    const before = ownCpuMs();
    const verdicts = waves.map((samples) => ({
      startSample: 0,
      probabilities: Float32Array.from(new SileroStream(silero).push(samples)),
    }));
    const cpuMs = ownCpuMs() - before;
    return Promise.resolve({ detect: (stream) => confirmed(verdicts[stream] ?? NONE), cpuMs });
  };
}

const NONE: VoiceVerdicts = { startSample: 0, probabilities: new Float32Array() };

function confirmed(verdicts: VoiceVerdicts): SpeechDetector {
  const detector = new VoiceActivity();
  detector.confirm(verdicts);
  return detector;
}
