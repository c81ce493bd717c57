import { DeepgramClient } from '@deepgram/sdk';
import { serve, type Outcome } from './order.ts';
import { framesOf, speakLive } from './live-speech.ts';

/** Deepgram's SDK for JavaScript, version 5. `node deepgram-5.ts ORDER` */

await serve(async ({ baseUrl, apiKey, model, wav16k }, speaking): Promise<Outcome> => {
  const sockets = baseUrl.replace(/^http/, 'ws');
  const client = new DeepgramClient({
    apiKey,
    environment: { base: baseUrl, production: sockets, agent: sockets, agentRest: baseUrl },
  });
  const socket = await client.listen.v1.connect({
    Authorization: `Token ${apiKey}`,
    model,
    encoding: 'linear16',
    sample_rate: 16_000,
    interim_results: 'true',
    reconnectAttempts: 0,
  });
  const finals: string[] = [];
  let interims = 0;
  let error: string | null = null;
  const { promise: closed, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
  socket.on('close', resolve);
  socket.on('error', ({ message }) => (error ??= message));
  socket.on('message', (message) => {
    if (message.type !== 'Results') return;
    const text = message.channel.alternatives[0]?.transcript ?? '';
    if (text === '') return;
    if (message.is_final === true) finals.push(text);
    else interims += 1;
  });
  socket.connect();
  const isOpen = await Promise.race([
    socket.waitForOpen().then(
      () => true,
      () => false,
    ),
    closed.then(() => false),
  ]);
  if (isOpen) {
    await speakLive(framesOf(wav16k), (frame) => socket.sendMedia(frame), speaking);
    socket.sendCloseStream({ type: 'CloseStream' });
  }
  const { code, reason } = await closed;
  socket.close();
  if (code !== 1000) error ??= `${code} ${reason}`;
  return { text: finals.join(' '), interims, error };
});
