import { initializeLogger, stt } from '@livekit/agents';
import { STT } from '@livekit/agents-plugin-openai';
import { AudioFrame, dispose } from '@livekit/rtc-node';
import { framesOf, framesOfSilence, speakLive } from './live-speech.ts';
import { messageOf, serve, type Outcome } from './order.ts';

/** LiveKit's OpenAI plugin for Node, with its defaults. `node livekit-openai.ts ORDER` */
const RATE_HZ = 16_000;
const SILENCE_MS = 1_500;
const { SpeechEventType } = stt;

initializeLogger({ pretty: false, level: 'silent' });

await serve(async ({ baseUrl, apiKey, model, wav16k }, speaking): Promise<Outcome> => {
  const speech = new STT({
    apiKey,
    model,
    baseURL: `${baseUrl}/v1`,
    // The default of 350 ms splits the recorded sentence.
    turnDetection: { type: 'server_vad', silence_duration_ms: 700 },
  });
  let error: string | null = null;
  const connOptions = { maxRetry: 0, retryIntervalMs: 100, timeoutMs: 10_000 };
  const stream = speech.stream({ connOptions });
  // The plugin leaves a failed stream open for its owner to close.
  speech.on('error', (event) => {
    error ??= messageOf(event.error);
    stream.close();
  });
  const push = (frame: Uint8Array<ArrayBuffer>): void => {
    if (error !== null) return;
    const samples = new Int16Array(frame.buffer);
    stream.pushFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length));
  };
  const frames = [...framesOf(wav16k), ...framesOfSilence(SILENCE_MS)];
  const spoken = speakLive(frames, push, speaking);
  const finals: string[] = [];
  let interims = 0;
  for await (const { type, alternatives } of stream) {
    if (type === SpeechEventType.INTERIM_TRANSCRIPT) interims += 1;
    if (type === SpeechEventType.FINAL_TRANSCRIPT) finals.push(alternatives?.[0].text ?? '');
    // The plugin closes its socket at the end of the input, so the turn has to end before it.
    if (type === SpeechEventType.RECOGNITION_USAGE) break;
  }
  await spoken;
  stream.close();
  await speech.close();
  return { text: finals.join(' '), interims, error };
});

// Its native library keeps the process alive after a failed stream.
await dispose();
