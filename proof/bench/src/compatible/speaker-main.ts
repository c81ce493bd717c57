import { SvcClient } from '@svc-asr/sdk';
import { VoiceGate, type GateOutput } from '@svc-asr/sdk/audio';
import { openStream } from '@svc-asr/sdk/stream';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { WebSocket } from 'ws';
import { answerOrders } from '../measured-process.ts';
import { inRealTime } from '../engine/in-real-time.ts';

/** A process with live speakers, through the SDK or as clients of Deepgram's socket. Its CPU time is measured from outside. */

export interface SpeakOrder {
  readonly path: 'sdk' | 'deepgram';
  /** The service or `svc-compatible`. */
  readonly url: string;
  /** One speaker for each. */
  readonly apiKeys: readonly string[];
  readonly sentences: number;
}

export interface Spoken {
  readonly audioS: number;
  /** From the end of each sentence to its final. */
  readonly lagsMs: readonly number[];
}

/** What both paths have in common. */
interface Line {
  send(pcm: Uint8Array<ArrayBuffer>): void;
  /** Ends the sentence. Resolves when its final has arrived. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const SENTENCE = speech('kikuyu-1');
const SILENCE_MS = 700;

async function speak(line: Line, sentences: number): Promise<number[]> {
  const lagsMs: number[] = [];
  const { pcm } = SENTENCE;
  for (let sentence = 0; sentence < sentences; sentence += 1) {
    for await (const frame of inRealTime(pcm)) line.send(Uint8Array.from(frame));
    const endMs = performance.now();
    await line.flush();
    lagsMs.push(performance.now() - endMs);
  }
  await line.close();
  return lagsMs;
}

function openSdkLine(url: string, apiKey: string): Line {
  const client = new SvcClient({ baseUrl: url, apiKey });
  const { model } = SENTENCE;
  const stream = openStream({
    endpointing: { silenceMs: SILENCE_MS },
    getSession: ({ signal }) => client.sessions.create({ model, maxAudioSeconds: 300 }, { signal }),
  });
  // The socket has a gate as well.
  const gate = new VoiceGate({ holdMs: SILENCE_MS });
  const sendAll = (outputs: readonly GateOutput[]): void => {
    for (const output of outputs) {
      if (output.do === 'skip') stream.skip(output.ms);
      else void stream.write(output.samples);
    }
  };
  return {
    send: (pcm) => sendAll(gate.push(new Int16Array(pcm.buffer))),
    async flush() {
      sendAll(gate.end());
      await stream.flush();
    },
    close: async () => void (await stream.finish()),
  };
}

async function openDeepgramLine(url: string, apiKey: string): Promise<Line> {
  const query = `model=${SENTENCE.model}&encoding=linear16&sample_rate=16000&interim_results=true`;
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/listen?${query}`, {
    headers: { authorization: `Token ${apiKey}` },
  });
  let onFinalized: (() => void) | null = null;
  socket.on('message', (data: Buffer) => {
    if (JSON.parse(data.toString()).from_finalize === true) onFinalized?.();
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return {
    send: (pcm) => socket.send(pcm),
    flush() {
      socket.send('{"type":"Finalize"}');
      return new Promise((resolve) => (onFinalized = resolve));
    },
    close() {
      socket.send('{"type":"CloseStream"}');
      return new Promise((resolve) => void socket.once('close', () => resolve()));
    },
  };
}

answerOrders(async (order: SpeakOrder): Promise<Spoken> => {
  const { path, url, apiKeys, sentences } = order;
  const lags = await Promise.all(
    apiKeys.map(async (apiKey) => {
      const line = path === 'sdk' ? openSdkLine(url, apiKey) : await openDeepgramLine(url, apiKey);
      return speak(line, sentences);
    }),
  );
  const audioS = (apiKeys.length * sentences * SENTENCE.pcm.byteLength) / 32_000;
  return { audioS, lagsMs: lags.flat() };
});
