import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '@svc-asr/local/free-port.ts';
import { listen } from '@svc-asr/runtime/listen.ts';

const MAIN = join(import.meta.dirname, '../../src/health-check-main.ts');

let status = 200;
let server: Server;
let port: string;
let unused: string;
beforeAll(async () => {
  server = createServer(({ url }, response) => {
    response.writeHead(url === '/healthz' ? status : 404).end();
  });
  port = String(await listen(server));
  unused = String(await freePort());
});
afterAll(() => server.close());

/** Returns the exit status of the image's health check. */
async function check(env: Readonly<Record<string, string>>): Promise<number> {
  return promisify(execFile)(process.execPath, [MAIN], { env }).then(
    () => 0,
    ({ code }: { code: number }) => code,
  );
}

test('the health check asks the server on PORT, and an engine node on METRICS_PORT', async () => {
  expect(await check({ PORT: port })).toBe(0);
  // The image sets PORT for every process.
  expect(await check({ PORT: unused, METRICS_PORT: port })).toBe(0);
});

test('the health check fails without an answer, and on any other status', async () => {
  expect(await check({ PORT: unused })).toBe(1);
  status = 503;
  expect(await check({ PORT: port })).toBe(1);
});
