import { initializeLogger, stt } from '@livekit/agents';
import { STT } from '@livekit/agents-plugin-deepgram';
import { AudioFrame } from '@livekit/rtc-node';
import { framesOf, framesOfSilence, speakLive } from './live-speech.ts';
import { messageOf, serve, type Outcome } from './order.ts';

/** LiveKit's Deepgram plugin for Node, with its defaults. `node livekit-deepgram.ts ORDER` */

const RATE_HZ = 16_000;
/** The plugin drops interim results after the end of its input, so the turn ends before it. */
const SILENCE_MS = 1_500;
const { SpeechEventType } = stt;

initializeLogger({ pretty: false, level: 'silent' });

await serve(async ({ baseUrl, apiKey, model, wav16k }, speaking): Promise<Outcome> => {
  const speech = new STT({ apiKey, model, baseUrl: baseUrl.replace(/^http/, 'ws') });
  let error: string | null = null;
  speech.on('error', (event) => (error ??= messageOf(event.error)));
  const connOptions = { maxRetry: 0, retryIntervalMs: 100, timeoutMs: 10_000 };
  const stream = speech.stream({ connOptions });
  const push = (frame: Uint8Array<ArrayBuffer>): void => {
    if (error !== null) return;
    const samples = new Int16Array(frame.buffer);
    stream.pushFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length));
  };
  const speak = async (): Promise<void> => {
    await speakLive([...framesOf(wav16k), ...framesOfSilence(SILENCE_MS)], push, speaking);
    if (error === null) stream.endInput();
  };
  const spoken = speak();
  const finals: string[] = [];
  let interims = 0;
  for await (const { type, alternatives } of stream) {
    if (type === SpeechEventType.INTERIM_TRANSCRIPT) interims += 1;
    if (type === SpeechEventType.FINAL_TRANSCRIPT) finals.push(alternatives?.[0].text ?? '');
  }
  await spoken;
  stream.close();
  return { text: finals.join(' '), interims, error };
});
