import { createClient, LiveTranscriptionEvents } from 'deepgram-sdk-4';
import { framesOf, speakLive } from './live-speech.ts';
import { serve, type Outcome } from './order.ts';

/** Deepgram's SDK for JavaScript, version 4. `node deepgram-4.ts ORDER` */

interface Transcript {
  readonly is_final: boolean;
  readonly channel: { readonly alternatives: readonly { readonly transcript: string }[] };
}

await serve(async ({ baseUrl, apiKey, model, wav16k }, speaking): Promise<Outcome> => {
  const client = createClient(apiKey, {
    global: {
      websocket: { options: { url: baseUrl.replace(/^http/, 'ws') } },
      fetch: { options: { url: baseUrl } },
    },
  });
  const live = client.listen.live({
    model,
    encoding: 'linear16',
    sample_rate: 16_000,
    interim_results: true,
  });
  const finals: string[] = [];
  let interims = 0;
  let error: string | null = null;
  const { promise: closed, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
  const opened = new Promise<boolean>((settle) => {
    live.on(LiveTranscriptionEvents.Open, () => settle(true));
    live.on(LiveTranscriptionEvents.Close, () => settle(false));
  });
  live.on(LiveTranscriptionEvents.Close, resolve);
  live.on(LiveTranscriptionEvents.Error, (event: Error) => (error ??= event.message));
  live.on(LiveTranscriptionEvents.Transcript, ({ is_final, channel }: Transcript) => {
    const text = channel.alternatives[0]?.transcript ?? '';
    if (text === '') return;
    if (is_final) finals.push(text);
    else interims += 1;
  });
  if (await opened) {
    await speakLive(framesOf(wav16k), (frame) => live.send(frame.buffer), speaking);
    live.requestClose();
  }
  const { code, reason } = await closed;
  if (code !== 1000) error ??= `${code} ${reason}`;
  return { text: finals.join(' '), interims, error };
});
