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
  return async (waves) => {
    const before = ownCpuMs();
    const verdicts = await silero.probabilities(
      waves.map((samples) => ({ stream: new SileroStream(), samples })),
    );
    const cpuMs = ownCpuMs() - before;
    return {
      detect: (stream) => confirmed({ startSample: 0, probabilities: verdicts[stream] ?? NONE }),
      cpuMs,
    };
  };
}

const NONE = new Float32Array();

function confirmed(verdicts: VoiceVerdicts): SpeechDetector {
  const detector = new VoiceActivity();
  detector.confirm(verdicts);
  return detector;
}
