import { createReadStream } from 'node:fs';
import type * as openaiPackage from 'openai';
import { onceOf, repeatedWav } from './repeated-speech.ts';
import { serve, type Outcome } from './order.ts';

/** The openai package and files: every response format. `node openai-files.ts ORDER PACKAGE` */
const { default: OpenAI, toFile }: typeof openaiPackage = await import(process.argv[3] ?? 'openai');

await serve(async ({ baseUrl, apiKey, model, wav16k, check }, speaking): Promise<Outcome> => {
  const openai = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, maxRetries: 0 });
  const { transcriptions } = openai.audio;
  const file = () => createReadStream(wav16k);
  if (check === 'restart') {
    const long = await toFile(repeatedWav(wav16k), 'long.wav');
    const events = await transcriptions.create({ file: long, model, stream: true });
    const { text, interims } = await readStream(events, speaking);
    return { text: onceOf(text), interims, error: null };
  }
  const { text } = await transcriptions.create({ file: file(), model });
  const plain = await transcriptions.create({ file: file(), model, response_format: 'text' });
  const srt = await transcriptions.create({ file: file(), model, response_format: 'srt' });
  const vtt = await transcriptions.create({ file: file(), model, response_format: 'vtt' });
  const verbose = await transcriptions.create({
    file: file(),
    model,
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
  });
  const words = (verbose.words ?? []).map(({ word }) => word).join(' ');
  const live = await readStream(await transcriptions.create({ file: file(), model, stream: true }));
  const models = await openai.models.list();
  const seen = [plain.trim(), captionsIn(srt), captionsIn(vtt), verbose.text, words, live.text];
  const wrong = seen.findIndex((each) => each !== text);
  if (wrong !== -1) throw new Error(`Format ${wrong} differs: ${seen[wrong]}`);
  if (!vtt.startsWith('WEBVTT') || !srt.startsWith('1')) throw new Error('These are no captions.');
  if (!models.data.some(({ id }) => id === model)) throw new Error('The model is not listed.');
  return { text, interims: live.interims, error: null };
});

async function readStream(
  events: AsyncIterable<{ type: string; delta?: string; text?: string }>,
  onFirst = (): void => undefined,
): Promise<{ text: string; interims: number }> {
  let [deltas, interims] = ['', 0];
  for await (const event of events) {
    if (event.type === 'transcript.text.delta') {
      if (interims === 0) onFirst();
      deltas += event.delta ?? '';
      interims += 1;
    }
    if (event.type !== 'transcript.text.done') continue;
    const text = event.text ?? '';
    if (deltas !== text) throw new Error(`The deltas differ from the text: ${deltas}`);
    return { text, interims };
  }
  throw new Error('The stream ended without its text.');
}

/** The text of SRT and WebVTT, without numbers, times and the head. */
function captionsIn(file: string): string {
  const lines = file.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !/^(\d+|WEBVTT|.*-->.*)$/.test(line)).join(' ');
}
