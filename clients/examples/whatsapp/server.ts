import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { SvcClient } from '@svc-asr/sdk';
import { relay } from '@svc-asr/sdk/relay';
import { openStream } from '@svc-asr/sdk/stream';

/** A WhatsApp webhook that replies to voice notes with their transcript. */
const BODY_BYTES_MAX = 1024 * 1024;
const GRAPH_URL = process.env['GRAPH_URL'] ?? 'https://graph.facebook.com/v23.0';
const TOKEN = setting('WHATSAPP_TOKEN');
const APP_SECRET = setting('WHATSAPP_APP_SECRET');
const VERIFY_TOKEN = setting('WHATSAPP_VERIFY_TOKEN');

/** An empty secret would accept everybody's signature, so the program doesn't start without one. */
function setting(name: string): string {
  const value = process.env[name]?.trim();
  if (value) return value;
  console.error(`${name} is not set. The app's page on developers.facebook.com has its value.`);
  process.exit(2);
}

const client = new SvcClient(); // SVC_BASE_URL and SVC_API_KEY

interface VoiceNote {
  readonly from: string;
  readonly phoneId: string;
  readonly mediaId: string;
}

async function transcribe(mediaId: string): Promise<string> {
  const media: { url: string } = await (await graph(`/${mediaId}`)).json();
  const note = await graph(media.url);
  const stream = openStream({
    getSession: ({ signal }) =>
      client.sessions.create({ model: 'svc-asr-kikuyu-v1', maxAudioSeconds: 300 }, { signal }),
  });
  try {
    if (note.body !== null) await relay(stream, note.body);
    return (await stream.finish()).text;
  } finally {
    await stream.close();
  }
}

async function answer({ from, phoneId, mediaId }: VoiceNote): Promise<void> {
  const body = (await transcribe(mediaId)) || '(no speech)';
  const message = { messaging_product: 'whatsapp', to: from, type: 'text', text: { body } };
  await graph(`/${phoneId}/messages`, message);
}

async function graph(path: string, message?: object): Promise<Response> {
  const url = path.startsWith('/') ? `${GRAPH_URL}${path}` : path;
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(60_000),
    ...(message === undefined ? {} : { method: 'POST', body: JSON.stringify(message) }),
  });
  if (!response.ok) throw new Error(`WhatsApp answered with status ${response.status}.`);
  return response;
}

interface Webhook {
  entry?: {
    changes?: {
      value?: {
        metadata?: { phone_number_id?: string };
        messages?: { from?: string; type?: string; audio?: { id?: string } }[];
      };
    }[];
  }[];
}

function voiceNotes(webhook: Webhook): VoiceNote[] {
  const changes = (webhook.entry ?? []).flatMap((entry) => entry.changes ?? []);
  return changes.flatMap(({ value }) =>
    (value?.messages ?? []).flatMap(({ from, audio }) => {
      const phoneId = value?.metadata?.phone_number_id;
      const mediaId = audio?.id;
      if (from === undefined || phoneId === undefined || mediaId === undefined) return [];
      return [{ from, phoneId, mediaId }];
    }),
  );
}

/** WhatsApp signs each webhook with the app's secret. */
function isSigned(body: Buffer, signature: string | string[] | undefined): boolean {
  const digest = createHmac('sha256', APP_SECRET).update(body).digest('hex');
  return isSame(String(signature), `sha256=${digest}`);
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

async function onWebhook(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > BODY_BYTES_MAX) return void response.writeHead(413).end();
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  if (!isSigned(body, request.headers['x-hub-signature-256'])) {
    return void response.writeHead(401).end();
  }
  // WhatsApp resends a webhook that gets no prompt response, so transcription starts after the response.
  response.writeHead(200).end();
  for (const note of voiceNotes(JSON.parse(body.toString('utf8')))) {
    // One note that fails must not lose the others.
    await answer(note).catch(report);
  }
}

/** WhatsApp asks once, when you register the webhook. */
function onVerification(request: IncomingMessage, response: ServerResponse): void {
  // Not `new URL`: it throws for targets such as `//`, and that would end the process.
  const [, query] = (request.url ?? '').split('?');
  const asked = new URLSearchParams(query);
  const isOurs = isSame(asked.get('hub.verify_token') ?? '', VERIFY_TOKEN);
  response.writeHead(isOurs ? 200 : 403, { 'content-type': 'text/plain' });
  response.end(isOurs ? asked.get('hub.challenge') : '');
}

function report(error: unknown): void {
  console.error(error instanceof Error ? error.message : 'The webhook failed.');
}

const server = createServer((request, response) => {
  if (request.method === 'GET') onVerification(request, response);
  else onWebhook(request, response).catch(report);
});
server.listen(Number(process.env['PORT'] ?? 3003), '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`);
});
