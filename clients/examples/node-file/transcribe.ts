import { readFile } from 'node:fs/promises';
import { SvcClient } from '@svc-asr/sdk';
import { wavToPcm16k } from '@svc-asr/sdk/audio';
import { openStream } from '@svc-asr/sdk/stream';

/** Transcribes a WAV file of any sample rate and prints the text. */
const [path, model = 'svc-asr-kikuyu-v1'] = process.argv.slice(2);
if (path === undefined || (model !== 'svc-asr-kikuyu-v1' && model !== 'svc-asr-dholuo-v1')) {
  console.error('Usage: node transcribe.ts FILE.wav [svc-asr-kikuyu-v1|svc-asr-dholuo-v1]');
  process.exit(2);
}

const client = new SvcClient(); // SVC_BASE_URL and SVC_API_KEY
const stream = openStream({
  getSession: ({ signal }) => client.sessions.create({ model, maxAudioSeconds: 300 }, { signal }),
});
stream.on('delta', ({ text }) => console.error('...', text));

const audio = wavToPcm16k(await readFile(path));
for (let at = 0; at < audio.length; at += 16_000)
  await stream.write(audio.subarray(at, at + 16_000));
const { text, final } = await stream.finish();

console.log(text);
console.error(`${final.billable_ms / 1000} s charged`);
