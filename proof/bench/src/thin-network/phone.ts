import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The phone: uploads a file over the given number of seconds, as if it were being recorded, and prints the response. */
const [url = '', path = '', seconds = '0'] = process.argv.slice(2);
const CHUNK_MS = 250;

const bytes = await readFile(path);
const began = performance.now();
const answer = new Promise<string>((resolve, reject) => {
  const upload = request(url, { method: 'POST' }, (response) => {
    if (response.statusCode !== 200) reject(new Error('The relay failed.'));
    const parts: Buffer[] = [];
    response.on('data', (part: Buffer) => parts.push(part));
    response.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
  });
  upload.on('error', reject);
  void send(upload);
});

async function send(upload: ReturnType<typeof request>): Promise<void> {
  const durationMs = Number(seconds) * 1000;
  const size = Math.ceil((bytes.byteLength * CHUNK_MS) / Math.max(CHUNK_MS, durationMs));
  for (let at = 0, chunk = 1; at < bytes.byteLength; at += size, chunk += 1) {
    upload.write(bytes.subarray(at, at + size));
    await sleep(Math.max(0, began + chunk * CHUNK_MS - performance.now()));
  }
  upload.end();
}

const text = await answer;
console.log(JSON.stringify({ text, ms: Math.round(performance.now() - began) }));
