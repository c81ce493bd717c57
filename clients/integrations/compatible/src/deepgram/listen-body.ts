import { createHash, type Hash } from 'node:crypto';
import type { AudioConverter } from '@svc-asr/sdk/audio';
import { createRawConverter, isWav } from '../audio/raw.ts';
import { readBody } from '../body.ts';
import type { DoorContext, Visit } from '../door.ts';
import { badRequest } from '../refusal.ts';
import { transcribe, type FileTranscript } from '../transcribe.ts';
import { readRequest } from './listen-request.ts';
import { alternative, metadata, seconds, type Request } from './messages.ts';
import type { ListenAudio } from './parameters.ts';

const NO_URL = badRequest(
  'url_not_supported',
  'The body is JSON. This server does not fetch addresses. Send the audio itself as the body.',
);
/** Raw samples may begin with a brace, but hardly with a whole field. */
const JSON_START = /^\s*\{\s*"\w+"\s*:/;
const JSON_START_BYTES = 200;

/** `POST /v1/listen`: a file in, its transcript out. The bytes decide what it is, whatever Content-Type says. */
export async function transcribeBody(visit: Visit, context: DoorContext): Promise<void> {
  const { caller, request, requestId, response, signal } = visit;
  const { options, choice } = readRequest(visit, context);
  const { decoders, metrics, config } = context;
  const { model } = choice;
  const { silenceMs } = options;
  const created = new Date().toISOString();
  const sha256 = createHash('sha256');
  const body = withoutUrl(hashed(readBody(request, config.limits), sha256));
  const transcript = await transcribe({
    pcm: decoded(body, {
      audio: options.audio,
      decode: (file) => decoders.decode(file, { account: caller.account, signal }),
    }),
    silenceMs,
    open: async () => {
      const { keyterms, numbers } = options;
      const stream = await caller.openStream({
        model,
        signal,
        endpointing: { silenceMs },
        keyterms,
        numbers,
      });
      stream.on('config_ack', ({ keyterms: used }) => {
        if (used === undefined || used.taken.length > 0) return;
        for (const name of ['keyterm', 'keywords']) if (visit.query.has(name)) visit.ignore(name);
      });
      return stream;
    },
    metrics,
    door: 'listen',
  });
  const { durationMs } = transcript;
  const audio = { created, durationMs, sha256: sha256.digest('hex') };
  const { type: _type, ...about } = metadata({ requestId, model }, audio);
  const results = presentResults(transcript, { requestId, model }, options.utterances);
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('dg-request-id', requestId);
  response.end(JSON.stringify({ metadata: about, results }));
}

function presentResults(
  { finals }: FileTranscript,
  { requestId }: Request,
  withUtterances: boolean,
): object {
  const confidence = mean(finals.flatMap((final) => final.confidence ?? []));
  const parts = finals.map((final) => alternative(final.text, final));
  const transcript = parts.flatMap((part) => part.transcript || []).join(' ');
  const whole = {
    transcript,
    confidence: transcript === '' ? 0 : (confidence ?? 1),
    words: parts.flatMap(({ words }) => words),
  };
  const utterances = finals.map((final, at) => ({
    id: `${requestId}-${at}`,
    start: seconds(final.words[0]?.start_ms ?? final.start_ms),
    end: seconds(final.words.at(-1)?.end_ms ?? final.end_ms),
    channel: 0,
    ...parts[at],
  }));
  const channels = [{ alternatives: [whole] }];
  return withUtterances ? { channels, utterances } : { channels };
}

function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function* hashed(body: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const bytes of body) {
    hash.update(bytes);
    yield bytes;
  }
}

/** Deepgram fetches the address in a JSON body. An address could be one inside the operator's network. */
async function* withoutUrl(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const bytes of body) {
    const start = isFirst ? bytes.toString('latin1', 0, JSON_START_BYTES) : '';
    if (JSON_START.test(start)) throw NO_URL;
    isFirst = false;
    yield bytes;
  }
}

async function* decoded(
  body: AsyncGenerator<Buffer>,
  input: {
    readonly audio: ListenAudio;
    readonly decode: (file: AsyncIterable<Uint8Array>) => AsyncGenerator<Buffer, void>;
  },
): AsyncGenerator<Buffer, void> {
  const { audio, decode } = input;
  const first = await body.next();
  const whole = continued(first, body);
  const isFile = audio === 'container' || (first.done !== true && isWav(first.value));
  yield* isFile ? decode(whole) : converted(whole, createRawConverter(audio));
}

async function* continued(
  first: IteratorResult<Buffer>,
  body: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (first.done === true) return;
  yield first.value;
  yield* body;
}

async function* converted(
  body: AsyncIterable<Buffer>,
  converter: AudioConverter,
): AsyncGenerator<Buffer, void> {
  for await (const bytes of body) yield toBytes(converter.push(bytes));
  yield toBytes(converter.end());
}

function toBytes({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
