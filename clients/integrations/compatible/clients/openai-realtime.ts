import type * as openaiPackage from 'openai';
import type * as realtimePackage from 'openai/realtime/ws';
import { framesOf, speakLive } from './live-speech.ts';
import { serve, type Outcome } from './order.ts';

/** The openai package and Realtime transcription. It only connects with TLS. `node openai-realtime.ts ORDER PACKAGE` */
const PACKAGE = process.argv[3] ?? 'openai';
const { default: OpenAI }: typeof openaiPackage = await import(PACKAGE);
const { OpenAIRealtimeWS }: typeof realtimePackage = await import(`${PACKAGE}/realtime/ws`);

await serve(({ baseUrl, apiKey, model, wav24k }, speaking): Promise<Outcome> => {
  const openai = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey });
  const realtime = new OpenAIRealtimeWS({ model }, openai);
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  let [deltas, interims, isOver] = ['', 0, false];
  let transcript: string | null = null;
  realtime.on('session.created', () =>
    realtime.send({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: { input: { transcription: { model }, turn_detection: null } },
      },
    }),
  );
  realtime.on('session.updated', async () => {
    const send = (frame: Uint8Array): void => {
      const audio = Buffer.from(frame).toString('base64');
      if (!isOver) realtime.send({ type: 'input_audio_buffer.append', audio });
    };
    await speakLive(framesOf(wav24k, 24_000), send, speaking);
    if (!isOver) realtime.send({ type: 'input_audio_buffer.commit' });
  });
  realtime.on('conversation.item.input_audio_transcription.delta', ({ delta = '' }) => {
    deltas += delta;
    interims += 1;
  });
  realtime.on('conversation.item.input_audio_transcription.completed', (completed) => {
    transcript = completed.transcript;
    realtime.close();
  });
  realtime.on('error', (error) => reject(error));
  realtime.socket.once('close', (code) => {
    isOver = true;
    if (transcript === null) return reject(new Error(`The connection closed with ${code}.`));
    const isSame = transcript === deltas;
    const error = isSame ? null : `The deltas differ from the transcript: ${deltas}`;
    resolve({ text: transcript, interims, error });
  });
  return promise;
});
