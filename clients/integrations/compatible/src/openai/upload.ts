import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { readBody } from '../body.ts';
import type { Limits } from '../config.ts';
import { badRequest } from '../refusal.ts';

/** The fields of a form, by name without `[]`. */
export type Fields = ReadonlyMap<string, readonly string[]>;

export interface Upload {
  /** The fields before the file. Some programs send all of them first, others last. */
  readonly early: Fields;
  /** The file's bytes, at the reader's pace. */
  readonly file: AsyncIterable<Uint8Array>;
  /** All fields, after the file was read to its end. */
  readonly all: Promise<Fields>;
  /** Stops reading. */
  stop(): void;
}

const FIELDS_MAX = 50;
const FIELD_BYTES_MAX = 64 * 1024;
const NAME_BYTES_MAX = 100;

const NOT_A_FORM = badRequest(
  'unsupported_content_type',
  'The request is not a form. Send the file as multipart/form-data in the field file.',
);
const MALFORMED = badRequest(
  'malformed_form',
  'The form is malformed or incomplete. Send the file as multipart/form-data in the field file.',
);
const MISSING_FILE = badRequest(
  'missing_file',
  'The form has no file. Send the audio in the field file.',
  'file',
);
const TOO_MANY_FIELDS = badRequest(
  'too_many_fields',
  `The form has too many or too large fields. Send at most ${FIELDS_MAX} of ${FIELD_BYTES_MAX / 1024} KiB.`,
);

/** Reads a form up to the beginning of its file. */
export async function receiveUpload(request: IncomingMessage, limits: Limits): Promise<Upload> {
  const fields = new Map<string, string[]>();
  const parser = createParser(request);
  const started = Promise.withResolvers<Readable>();
  const finished = Promise.withResolvers<Fields>();
  const stopped = Promise.withResolvers<void>();
  // Nobody may be waiting for it.
  finished.promise.catch(() => undefined);
  let file: Readable | null = null;
  function fail(error: Error): void {
    started.reject(error);
    finished.reject(error);
    file?.destroy(error);
    stopped.resolve();
  }
  parser.on('field', (name, value, isNameCut, isValueCut) => {
    if (isNameCut || isValueCut) return fail(TOO_MANY_FIELDS);
    const plain = name.replace(/\[\]$/, '');
    fields.set(plain, [...(fields.get(plain) ?? []), value]);
  });
  parser.on('file', (name, stream) => {
    if (name !== 'file' || file !== null) return void stream.resume();
    file = stream;
    // The reader sees the error, if there still is one. Without a listener it would end the process.
    stream.on('error', () => undefined);
    started.resolve(stream);
  });
  parser.on('finish', () => {
    started.reject(MISSING_FILE);
    finished.resolve(fields);
  });
  parser.on('error', () => fail(MALFORMED));
  parser.on('partsLimit', () => fail(TOO_MANY_FIELDS));
  parser.on('fieldsLimit', () => fail(TOO_MANY_FIELDS));
  const feeding = feed(readBody(request, limits), { parser, stopped: stopped.promise });
  feeding.catch(fail);
  const stream = await started.promise;
  return {
    early: new Map(fields),
    file: stream,
    all: finished.promise,
    stop: () => fail(MALFORMED),
  };
}

function createParser(request: IncomingMessage): BusboyInstance {
  const type = request.headers['content-type'];
  if (type === undefined || !/^multipart\/form-data *;/i.test(type)) throw NOT_A_FORM;
  const headers: BusboyHeaders = { 'content-type': type };
  try {
    return new Busboy({
      headers,
      // Some programs send the file without a name.
      isPartAFile: (name, _type, fileName) => name === 'file' || fileName !== undefined,
      limits: {
        files: 1,
        fields: FIELDS_MAX,
        parts: FIELDS_MAX + 1,
        fieldNameSize: NAME_BYTES_MAX,
        fieldSize: FIELD_BYTES_MAX,
      },
    });
  } catch {
    throw NOT_A_FORM;
  }
}

async function feed(
  body: AsyncIterable<Buffer>,
  { parser, stopped }: { readonly parser: BusboyInstance; readonly stopped: Promise<void> },
): Promise<void> {
  let goOn: (() => void) | null = null;
  parser.on('drain', () => goOn?.());
  let isStopped = false;
  void stopped.finally(() => {
    isStopped = true;
    goOn?.();
  });
  for await (const bytes of body) {
    if (isStopped) return;
    if (parser.write(bytes)) continue;
    await new Promise<void>((resolve) => (goOn = resolve));
    if (isStopped) return;
  }
  parser.end();
}
