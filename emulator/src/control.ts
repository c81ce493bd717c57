import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { FAULTS, parseFault } from './faults.ts';
import type { Emulator } from './emulator.ts';

/** Where tests ask for trouble: on a port of its own, so that the service's stays exactly the service's. */
export interface Control {
  readonly url: string;
  stop(): Promise<void>;
}

const BODY_BYTES_MAX = 64 * 1024;

export async function startControl(emulator: Emulator, port: number): Promise<Control> {
  const server = createServer((request, response) => {
    void answer(emulator, request)
      .catch((error: unknown) => ({
        status: 400,
        body: { problem: error instanceof Error ? error.message : 'Not understood.' },
      }))
      .then((reply) => send(response, reply));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const bound = address !== null && typeof address === 'object' ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

async function answer(emulator: Emulator, request: IncomingMessage): Promise<Reply> {
  switch (`${request.method} ${request.url}`) {
    case 'GET /':
      return { status: 200, body: describe(emulator) };
    case 'POST /faults': {
      const fields = await readFields(request);
      const fault = parseFault({ name: fields['name'], times: fields['times'], ms: fields['ms'] });
      if ('problem' in fault) return { status: 400, body: fault };
      emulator.faults.arm(fault);
      return { status: 201, body: fault };
    }
    case 'DELETE /faults':
      emulator.faults.clear();
      return { status: 200, body: { armed: [] } };
    case 'POST /texts': {
      const { texts } = await readFields(request);
      if (!isTexts(texts))
        return { status: 400, body: { problem: 'texts is a list of sentences.' } };
      emulator.say(texts);
      return { status: 200, body: { texts } };
    }
    case 'POST /restart': {
      const { idle_ms: idleTimeoutMs } = await readFields(request);
      if (idleTimeoutMs !== undefined && !isDuration(idleTimeoutMs)) {
        return { status: 400, body: { problem: 'idle_ms is a whole number from 100.' } };
      }
      await emulator.restart(idleTimeoutMs === undefined ? {} : { idleTimeoutMs });
      return { status: 200, body: { restarted: true } };
    }
    default:
      return { status: 404, body: { problem: 'Not here. GET / tells what there is.' } };
  }
}

function describe(emulator: Emulator) {
  return {
    base_url: emulator.url,
    api_key: emulator.apiKey,
    armed: emulator.faults.armed,
    faults: FAULTS,
    ask: {
      'POST /faults': '{"name":"engine-crash","ms":3000,"times":1}: the next victim meets it',
      'DELETE /faults': 'none is waiting any more',
      'POST /texts': '{"texts":["..."]}: what the next streams say, one for each utterance',
      'POST /restart':
        'every stream ends with 1012, and the server comes back; with {"idle_ms":1500} it then closes idle streams with 4408 after so long',
    },
  };
}

async function readFields(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > BODY_BYTES_MAX) throw new Error('The body is too large.');
    parts.push(part);
  }
  const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8') || '{}');
  if (typeof value !== 'object' || value === null) throw new Error('Send a JSON object.');
  return Object.fromEntries(Object.entries(value));
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100;
}

function isTexts(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string')
  );
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(reply.body, null, 2)}\n`);
}
