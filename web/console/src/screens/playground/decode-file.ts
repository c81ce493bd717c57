import { AUDIO, LIMITS } from '@svc-asr/protocol/constants.ts';
import { SvcError } from '@svc-asr/sdk/stream';
import { toPcm16 } from '@svc-asr/sdk/audio';

/** Longer than any session; the rest would be cut off. */
const SECONDS_MAX = LIMITS.audioSecondsMax;

/** Decodes any audio that the browser can play to 16 kHz mono PCM. The browser resamples it. */
export async function decodeFile(file: File): Promise<Int16Array> {
  const context = new OfflineAudioContext(1, 1, AUDIO.sampleRateHz);
  const audio = await context.decodeAudioData(await file.arrayBuffer()).catch((cause: unknown) => {
    throw fileError('undecodable', 'This file could not be read as audio.', cause);
  });
  const length = Math.min(audio.length, SECONDS_MAX * AUDIO.sampleRateHz);
  if (length === 0) throw fileError('too_short', 'There is no audio in this file.');
  const channels = Array.from({ length: audio.numberOfChannels }, (_, at) =>
    audio.getChannelData(at),
  );
  const mono = new Float32Array(length);
  for (const channel of channels) {
    for (let at = 0; at < length; at += 1) {
      mono[at] = (mono[at] ?? 0) + (channel[at] ?? 0) / channels.length;
    }
  }
  return toPcm16(mono);
}

function fileError(code: string, message: string, cause?: unknown): SvcError {
  return new SvcError({ code, message, retryable: false, cause });
}
