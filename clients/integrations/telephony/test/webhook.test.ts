import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { listen } from '@svc-asr/runtime/listen.ts';
import { BridgeMetrics } from '../src/metrics.ts';
import { isSignedWebhook, Webhook, type CallEvent, type Notice } from '../src/index.ts';
import { signWebhook } from '../src/webhook-signature.ts';

const SECRET = '0123456789abcdef';

let server: Server;
afterEach(() => void server.close());

interface Received {
  readonly body: string;
  readonly signature: string;
}

/** A real receiver that answers with these statuses, then with 200. */
async function receiver(...statuses: number[]) {
  const received: Received[] = [];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ body, signature: String(request.headers['svc-signature']) });
      const status = statuses.shift() ?? 200;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  const port = await listen(server);
  const notices: Notice[] = [];
  const metrics = new BridgeMetrics();
  const webhook = new Webhook({
    url: `http://127.0.0.1:${port}/events`,
    secret: SECRET,
    metrics,
    onNotice: (notice) => notices.push(notice),
    waitsMs: [1, 1, 1],
  });
  return { webhook, received, notices, metrics };
}

function ended(call: string, leg = 'inbound'): CallEvent {
  const time = new Date().toISOString();
  return { type: 'ended', call, leg, time, reason: 'completed', audio_ms: 1 };
}

test('events arrive signed, once and in order for each call; interim text is not sent', async () => {
  const { webhook, received } = await receiver(503, 429, 200, 500);
  const interim = { call: 'a', leg: 'inbound', time: '', text: 'x', type: 'interim' } as const;
  webhook.send(interim);
  for (const leg of ['1', '2', '3']) webhook.send(ended('a', leg));
  await webhook.flush(60_000);
  for (const { body, signature } of received) {
    expect(isSignedWebhook({ secret: SECRET, signature, body })).toBe(true);
  }
  const legs = received.map(({ body }) => JSON.parse(body).leg);
  expect(legs).toEqual(['1', '1', '1', '2', '2', '3']);
  const ids = new Set(received.map(({ body }) => JSON.parse(body).id));
  expect(ids.size).toBe(3);
});

test('gives up after a bounded number of attempts and says so without the event', async () => {
  const { webhook, received, notices, metrics } = await receiver(500, 500, 500, 500, 200);
  webhook.send(ended('a', 'secret-leg'));
  webhook.send(ended('a', 'next'));
  await webhook.flush(60_000);
  expect(received).toHaveLength(5);
  expect(notices).toMatchObject([{ level: 'error', code: 'webhook_failed' }]);
  expect(JSON.stringify(notices)).not.toContain('secret-leg');
  expect(metrics.text()).toContain('svc_telephony_events_dropped_total{sink="webhook"} 1\n');
});

test.each([400, 401, 302])(
  'status %s is not retried, and redirects are not followed',
  async (status) => {
    const { webhook, received, notices } = await receiver(status);
    webhook.send(ended('a'));
    await webhook.flush(60_000);
    expect(received).toHaveLength(1);
    expect(notices).toHaveLength(1);
  },
);

test('a flush ends in time even if the receiver never answers', async () => {
  const { webhook, notices } = await receiver();
  server.removeAllListeners('request');
  webhook.send(ended('a'));
  webhook.send(ended('a'));
  await webhook.flush(50);
  expect(notices).toHaveLength(2);
  server.closeAllConnections();
});

test('changed, old and unsigned webhooks are not accepted', () => {
  const nowMs = 1_763_290_000_000;
  const signature = signWebhook(SECRET, '{}', nowMs / 1000);
  const valid = { secret: SECRET, signature, body: '{}', nowMs };
  expect(isSignedWebhook(valid)).toBe(true);
  expect(isSignedWebhook({ ...valid, nowMs: nowMs + 299_000 })).toBe(true);
  for (const change of [
    { body: '{ }' },
    { secret: 'another' },
    { secret: '' },
    { nowMs: nowMs + 301_000 },
    { nowMs: nowMs - 301_000 },
    { signature: undefined },
    { signature: '' },
    { signature: signature.replace('t=1', 't=2') },
    { signature: signature.slice(0, -1) },
  ]) {
    expect(isSignedWebhook({ ...valid, ...change })).toBe(false);
  }
});

test.each([
  ['http://calls.example.org', SECRET, 'https'],
  ['ftp://127.0.0.1', SECRET, 'https'],
  ['nonsense', SECRET, 'https'],
  ['https://calls.example.org', '', 'SVC_TELEPHONY_WEBHOOK_SECRET'],
  ['https://calls.example.org', 'short', 'SVC_TELEPHONY_WEBHOOK_SECRET'],
])('refuses to post to %s with the secret %j', (url, secret, message) => {
  const metrics = new BridgeMetrics();
  const options = { url, secret, metrics, onNotice: () => undefined };
  expect(() => new Webhook(options)).toThrow(message);
});
