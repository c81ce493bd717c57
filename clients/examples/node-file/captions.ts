import { SvcClient } from '@svc-asr/sdk';
import { openStream } from '@svc-asr/sdk/stream';

/** Live captions: reads 16 kHz mono PCM from standard input and prints a WebVTT cue for each turn. */
const [model = 'svc-asr-kikuyu-v1'] = process.argv.slice(2);
if (model !== 'svc-asr-kikuyu-v1' && model !== 'svc-asr-dholuo-v1') {
  throw new Error('The models are svc-asr-kikuyu-v1 and svc-asr-dholuo-v1.');
}

const client = new SvcClient();
const stream = openStream({
  getSession: ({ signal }) => client.sessions.create({ model, maxAudioSeconds: 300 }, { signal }),
  // A pause of 600 ms ends a cue. Without a pause a new cue starts after 8 s.
  endpointing: { silenceMs: 600, maxUtteranceMs: 8_000 },
});
stream.on('final', ({ text, words }) => {
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return;
  console.log(`${clock(first.start_ms)} --> ${clock(last.end_ms)}\n${text}\n`);
});

console.log('WEBVTT\n');
for await (const pcm of process.stdin) await stream.write(pcm);
await stream.finish();

function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23);
}
