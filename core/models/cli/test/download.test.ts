import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listen } from '@svc-asr/runtime/listen.ts';
import { download } from '../src/download.ts';
import { serveFiles, type FileServer } from './file-server.ts';

const WEIGHTS = randomBytes(300_000);
const sha256 = createHash('sha256').update(WEIGHTS).digest('hex');
const files = new Map([['/model.onnx', WEIGHTS]]);
let folder = '';
let server: FileServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'download-'));
  server = await serveFiles(files);
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const remote = (change = {}) => ({
  url: `${server.url}/model.onnx`,
  bytes: WEIGHTS.length,
  sha256,
  ...change,
});

test('downloads a file, reports progress and does not request it again', async () => {
  const path = join(folder, 'model.onnx');
  const seen: number[] = [];
  await download(remote(), path, { onProgress: ({ bytes }) => seen.push(bytes) });
  expect(await readFile(path)).toEqual(WEIGHTS);
  expect(seen.at(-1)).toBe(WEIGHTS.length);
  await download(remote(), path);
  expect(server.asked).toHaveLength(1);
});

test('resumes a broken download where it stopped', async () => {
  const part = join(folder, 'model.onnx.part');
  server.breakAfter(100_000, async () => {
    await expect.poll(() => stat(part).then(({ size }) => size)).toBe(100_000);
  });
  await download(remote(), join(folder, 'model.onnx'), { retryMs: 1 });
  expect(await readFile(join(folder, 'model.onnx'))).toEqual(WEIGHTS);
  expect(server.asked.map(({ range }) => range)).toEqual([undefined, 'bytes=100000-']);
});

test('resumes a download that an earlier run left incomplete', async () => {
  await writeFile(join(folder, 'model.onnx.part'), WEIGHTS.subarray(0, 250_000));
  await download(remote(), join(folder, 'model.onnx'));
  expect(server.asked.map(({ range }) => range)).toEqual(['bytes=250000-']);
  expect(await readdir(folder)).toEqual(['model.onnx']);
});

test('starts over when the server does not support ranges', async () => {
  await server.close();
  server = await serveFiles(files, { ranges: false });
  await writeFile(join(folder, 'model.onnx.part'), randomBytes(1_000));
  await download(remote(), join(folder, 'model.onnx'));
  expect(await readFile(join(folder, 'model.onnx'))).toEqual(WEIGHTS);
});

test('removes and refuses a file with another hash', async () => {
  const path = join(folder, 'model.onnx');
  const changed = remote({ sha256: '0'.repeat(64) });
  await expect(download(changed, path)).rejects.toThrow('expected is 000');
  expect(await readdir(folder)).toEqual([]);
});

test('stops at the size the catalogue states', async () => {
  const short = remote({ bytes: 1_000 });
  await expect(download(short, join(folder, 'model.onnx'))).rejects.toThrow('longer than 1000');
});

test('survives servers that close the connection before everything is written', async () => {
  const body = WEIGHTS.subarray(0, 70_000);
  const hash = createHash('sha256').update(body).digest('hex');
  const closing = createServer((socket) => {
    const head = `HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), body])));
  });
  const port = await listen(closing);
  const closed = { url: `http://127.0.0.1:${port}/x`, bytes: body.length, sha256: hash };
  const paths = Array.from({ length: 10 }, (_, at) => join(folder, `${at}`));
  await Promise.all(paths.map((path) => download(closed, path)));
  closing.close();
  for (const path of paths) expect(await readFile(path)).toEqual(body);
});

test('follows redirects, and gives up after ten', async () => {
  await server.close();
  const moved = new Map([
    ['/old', '/model.onnx'],
    ['/circle', '/circle'],
  ]);
  server = await serveFiles(files, { moved });
  await download(remote({ url: `${server.url}/old` }), join(folder, 'model.onnx'));
  expect(await readFile(join(folder, 'model.onnx'))).toEqual(WEIGHTS);
  const circle = download(remote({ url: `${server.url}/circle` }), join(folder, 'other'));
  await expect(circle).rejects.toThrow('/circle redirects more than 10 times');
});

test('names the URL that failed', async () => {
  const gone = remote({ url: `${server.url}/gone.onnx` });
  await expect(download(gone, join(folder, 'x'))).rejects.toThrow('/gone.onnx answered 404');
});
