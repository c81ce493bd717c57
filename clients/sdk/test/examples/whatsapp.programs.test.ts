import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { listen } from '@svc-asr/runtime/listen.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const SECRET = 'app-secret';
const NOTE = {
  entry: [
    {
      changes: [
        {
          value: {
            metadata: { phone_number_id: '4242' },
            messages: [
              { from: '254700000001', type: 'audio', audio: { id: 'media-1', voice: true } },
            ],
          },
        },
      ],
    },
  ],
};

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['nĩ wega'] });
});
afterAll(() => emulator.stop());

/** A fake Graph API: returns a note's URL and content, and accepts messages. */
async function startGraph() {
  const speech = join(ROOT, 'core/models/fixtures/kikuyu-1.wav');
  const note = execFileSync('ffmpeg', [
    '-v',
    'error',
    '-i',
    speech,
    '-c:a',
    'libopus',
    '-f',
    'ogg',
    '-',
  ]);
  const sent = Promise.withResolvers<unknown>();
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
      if (request.url === '/media-1') response.end(JSON.stringify({ url: `${url}/note.ogg` }));
      else if (request.url === '/note.ogg') response.end(note);
      else {
        sent.resolve(JSON.parse(Buffer.concat(parts).toString('utf8')));
        response.end('{}');
      }
    })();
  });
  const port = await listen(server);
  const url = `http://127.0.0.1:${port}`;
  return { url, sent: sent.promise, stop: () => void server.close() };
}

/** The status line of a raw request. */
async function statusOf(url: string, request: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`${request}\r\nHost: x\r\n\r\n`);
  const [answer] = await once(socket.setEncoding('utf8'), 'data');
  socket.destroy();
  return String(answer).split('\r\n')[0] ?? '';
}

test.each(['WHATSAPP_TOKEN', 'WHATSAPP_APP_SECRET', 'WHATSAPP_VERIFY_TOKEN'])(
  'whatsapp: does not start with an empty %s',
  async (name) => {
    const webhook = spawn(process.execPath, [join(ROOT, 'clients/examples/whatsapp/server.ts')], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        PORT: '0',
        SVC_BASE_URL: emulator.url,
        SVC_API_KEY: emulator.apiKey,
        WHATSAPP_TOKEN: 'token',
        WHATSAPP_APP_SECRET: SECRET,
        WHATSAPP_VERIFY_TOKEN: 'verify',
        [name]: ' ',
      },
    });
    const line = once(createInterface({ input: webhook.stderr }), 'line');
    expect(await once(webhook, 'exit')).toEqual([2, null]);
    expect(String(await line)).toContain(`${name} is not set`);
  },
);

test('whatsapp: replies to a signed voice note with its text and refuses an unsigned one', async () => {
  const graph = await startGraph();
  const webhook = spawn(process.execPath, [join(ROOT, 'clients/examples/whatsapp/server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: '0',
      SVC_BASE_URL: emulator.url,
      SVC_API_KEY: emulator.apiKey,
      GRAPH_URL: graph.url,
      WHATSAPP_TOKEN: 'token',
      WHATSAPP_APP_SECRET: SECRET,
      WHATSAPP_VERIFY_TOKEN: 'verify',
    },
  });
  try {
    const [line] = await once(createInterface({ input: webhook.stdout }), 'line');
    const url = String(line);
    // An invalid URL as a request target, from anybody.
    expect(await statusOf(url, 'GET // HTTP/1.1')).toBe('HTTP/1.1 403 Forbidden');
    expect((await fetch(`${url}/?hub.verify_token=&hub.challenge=1`)).status).toBe(403);
    const query = 'hub.mode=subscribe&hub.verify_token=verify&hub.challenge=1158201444';
    expect(await (await fetch(`${url}/?${query}`)).text()).toBe('1158201444');
    const body = JSON.stringify(NOTE);
    const digest = createHmac('sha256', SECRET).update(body).digest('hex');
    const post = (signature: string): Promise<Response> =>
      fetch(url, { method: 'POST', body, headers: { 'x-hub-signature-256': signature } });
    expect((await post(`sha256=${'0'.repeat(64)}`)).status).toBe(401);
    expect((await post(`sha256=${digest}`)).status).toBe(200);
    expect(await graph.sent).toMatchObject({ to: '254700000001', text: { body: 'nĩ wega' } });
  } finally {
    webhook.kill();
    graph.stop();
  }
});
