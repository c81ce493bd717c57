import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '@svc-asr/runtime/listen.ts';
import { guarded, guardHttpServer, HTTP_LIMITS } from '@svc-asr/runtime/server-guard.ts';
import { FAULTS, parseFault } from './faults.ts';
import type { Emulator, ScriptedTurn } from './emulator.ts';

/** The HTTP server through which tests switch faults. Its own port keeps the service's API unchanged. */
export interface Control {
  readonly url: string;
  stop(): Promise<void>;
}

const BODY_BYTES_MAX = 64 * 1024;

export async function startControl(emulator: Emulator, port: number): Promise<Control> {
  const server = createServer(
    HTTP_LIMITS,
    guarded(async (request, response) => {
      const reply = await answer(emulator, request).catch((error: unknown) => ({
        status: 400,
        body: { problem: error instanceof Error ? error.message : 'Invalid request.' },
      }));
      send(response, reply);
    }),
  );
  guardHttpServer(server);
  return {
    url: `http://127.0.0.1:${await listen(server, port)}`,
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

const LOCAL_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/**
 * A web page must not control the emulator. Browsers send Origin with every changing request, and DNS
 * rebinding shows in Host.
 */
function isFromThisMachine({ headers }: IncomingMessage): boolean {
  return headers.origin === undefined && LOCAL_HOST.test(headers.host ?? '');
}

async function answer(emulator: Emulator, request: IncomingMessage): Promise<Reply> {
  if (!isFromThisMachine(request)) {
    return { status: 403, body: { problem: 'Use http://127.0.0.1 and no browser.' } };
  }
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
      return { status: 200, body: { never_met: emulator.faults.clear() } };
    case 'POST /texts': {
      const { texts } = await readFields(request);
      if (!isTexts(texts))
        return { status: 400, body: { problem: 'texts must be a list of sentences.' } };
      emulator.say(texts);
      return { status: 200, body: { texts } };
    }
    case 'POST /turns': {
      const turns = parseTurns((await readFields(request))['turns']);
      if (turns === null) return { status: 400, body: { problem: TURNS_PROBLEM } };
      emulator.play(turns);
      return { status: 200, body: { turns: turns.length } };
    }
    case 'POST /restart': {
      const { idle_ms: idleTimeoutMs } = await readFields(request);
      if (idleTimeoutMs !== undefined && !isDuration(idleTimeoutMs)) {
        return { status: 400, body: { problem: 'idle_ms must be a whole number from 100.' } };
      }
      await emulator.restart(idleTimeoutMs === undefined ? {} : { idleTimeoutMs });
      return { status: 200, body: { restarted: true } };
    }
    default:
      return { status: 404, body: { problem: 'Not found. GET / lists the endpoints.' } };
  }
}

function describe(emulator: Emulator) {
  return {
    base_url: emulator.url,
    api_key: emulator.apiKey,
    armed: emulator.faults.armed,
    met: emulator.faults.met,
    faults: FAULTS,
    endpoints: {
      'POST /faults':
        '{"name":"engine-crash","ms":3000,"times":1}: the next request or stream meets it',
      'DELETE /faults': 'disarm all faults; returns those that no client has met',
      'POST /texts': '{"texts":["..."]}: transcripts of the next streams, one per utterance',
      'POST /turns':
        '{"turns":[{"text":"...","silence_ms":500,"speech_ms":1200}]}: speech and silence of the next streams',
      'POST /restart':
        'end every stream with 1012 and restart; {"idle_ms":1500} also sets the idle timeout (close 4408)',
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

const TURNS_PROBLEM =
  'turns must be a list of {"text", "silence_ms", "speech_ms"} with whole numbers up to 600000.';

function parseTurns(value: unknown): ScriptedTurn[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const turns = value.map(parseTurn);
  return turns.every((turn) => turn !== null) ? turns : null;
}

function parseTurn(value: unknown): ScriptedTurn | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields = new Map<string, unknown>(Object.entries(value));
  const text = fields.get('text');
  const [silenceMs, speechMs] = [fields.get('silence_ms'), fields.get('speech_ms')];
  if (typeof text !== 'string') return null;
  if (!isTurnMs(silenceMs, 0) || !isTurnMs(speechMs, 1)) return null;
  return {
    text,
    ...(silenceMs === undefined ? {} : { silenceMs }),
    ...(speechMs === undefined ? {} : { speechMs }),
  };
}

function isTurnMs(value: unknown, min: number): value is number | undefined {
  if (value === undefined) return true;
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= 600_000;
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(reply.body, null, 2)}\n`);
}
