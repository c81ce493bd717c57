import { initializeLogger, type stt } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { SvcClient } from '@svc-asr/sdk';
import { SvcSTT } from '../src/index.ts';

const FRAME_MS = 20;

/** Sends a recording through a LiveKit stream, in frames of 20 ms, and returns after its last event. */
export async function sendThroughLiveKit(
  samples: Int16Array,
  options: { baseUrl: string; apiKey: string; sampleRateHz: number; silenceMs: number },
): Promise<void> {
  initializeLogger({ pretty: false, level: 'silent' });
  const { baseUrl, apiKey, sampleRateHz, silenceMs } = options;
  const client = new SvcClient({ baseUrl, apiKey });
  const stream = new SvcSTT({ client, model: 'svc-asr-kikuyu-v1', silenceMs }).stream();
  const size = (sampleRateHz * FRAME_MS) / 1000;
  for (let at = 0; at < samples.length; at += size) {
    const data = samples.slice(at, at + size);
    stream.pushFrame(new AudioFrame(data, sampleRateHz, 1, data.length));
  }
  stream.endInput();
  const events: stt.SpeechEvent[] = [];
  for await (const event of stream) events.push(event);
}
