import type { ServerResponse } from 'node:http';
import type { SpooledFile } from '@svc-asr/runtime/spool-audio.ts';
import { withFileSlot } from '../with-file-slot.ts';
import type { Door, DoorContext, Visit } from '../door.ts';
import { badRequest, errorBody, toRefusal } from '../refusal.ts';
import { transcribe, TURN_SILENCE_MS, type FileTranscript } from '../transcribe.ts';
import { usage, writeTranscript } from './transcription-formats.ts';
import { parseParameters, type TranscriptionParameters } from './transcription-parameters.ts';
import { receiveUpload, type Fields, type Upload } from './upload.ts';

const CHANGED_LATE = badRequest(
  'fields_after_file',
  'The fields after the file name another language. Send model and language before the file.',
  'language',
);

const MAY_FOLLOW: ReadonlySet<string> = new Set(['missing_language', 'missing_required_parameter']);

/** `POST /v1/audio/transcriptions`: a file in, its transcript out. */
export const transcriptions: Door = {
  name: 'transcriptions',
  api: 'openai',
  paths: ['/v1/audio/transcriptions'],
  handle: { POST: withFileSlot(transcribeUpload) },
};

/** `POST /v1/audio/translations`, which some programs offer beside it. */
export const translations: Door = {
  name: 'transcriptions',
  api: 'openai',
  paths: ['/v1/audio/translations'],
  handle: {
    async POST() {
      throw badRequest(
        'translation_not_supported',
        'Speech is transcribed in its own language only. Use /v1/audio/transcriptions.',
      );
    },
  },
};

async function transcribeUpload(visit: Visit, context: DoorContext): Promise<void> {
  const upload = await receiveUpload(visit.request, context.config.limits);
  let file: SpooledFile | null = null;
  try {
    const parse = (fields: Fields): TranscriptionParameters =>
      parseParameters(fields, {
        prefix: visit.prefix,
        fallback: context.config.defaultLanguage,
        ignore: (name) => visit.ignore(name),
      });
    const early = earlyParameters(upload, parse);
    // Without a language nothing can be sent to the service, so the file waits on the disk for the fields after it.
    if (early === null) {
      file = await context.decoders.spool(upload.file, { account: visit.caller.account });
    }
    const parameters = early ?? parse(await upload.all);
    await answer({ visit, context, upload, parameters, parse, file });
  } finally {
    upload.stop();
    await file?.close();
  }
}

/** The parameters, if the fields before the file name the language. Otherwise later ones may. */
function earlyParameters(
  { early }: Upload,
  parse: (fields: Fields) => TranscriptionParameters,
): TranscriptionParameters | null {
  const names = ['model', 'language', 'languages'];
  if (!names.some((name) => early.has(name))) return null;
  try {
    const parameters = parse(early);
    return parameters.choice.isExplicit ? parameters : null;
  } catch (error) {
    // A missing field may follow. Everything else is wrong already.
    if (MAY_FOLLOW.has(toRefusal(error).code)) return null;
    throw error;
  }
}

async function answer(input: {
  readonly visit: Visit;
  readonly context: DoorContext;
  readonly upload: Upload;
  readonly parameters: TranscriptionParameters;
  readonly parse: (fields: Fields) => TranscriptionParameters;
  readonly file: SpooledFile | null;
}): Promise<void> {
  const { visit, context, upload, parameters, file } = input;
  const { caller, signal, response } = visit;
  const { model } = parameters.choice;
  const events = new TranscriptEvents(response);
  const startIfStreamed = (known: TranscriptionParameters): void => {
    if (known.isStreamed && known.choice.model === model) events.start();
  };
  startIfStreamed(parameters);
  // Fields after the file may ask for events. A wrong field is reported below.
  upload.all.then((fields) => startIfStreamed(input.parse(fields))).catch(() => undefined);
  try {
    const transcript = await transcribe({
      pcm: context.decoders.decode(file?.handle ?? upload.file, {
        account: caller.account,
        signal,
      }),
      silenceMs: TURN_SILENCE_MS,
      open: () => caller.openStream({ model, signal, endpointing: { silenceMs: TURN_SILENCE_MS } }),
      onFinal: ({ text }) => events.delta(text),
      metrics: context.metrics,
      door: 'transcriptions',
    });
    const last = file === null ? input.parse(await upload.all) : parameters;
    if (last.choice.model !== model) throw CHANGED_LATE;
    if (last.isStreamed) return events.done(transcript);
    const { type, body } = writeTranscript(transcript, last);
    response.setHeader('content-type', type);
    response.end(body);
  } catch (error) {
    if (!events.hasWritten || signal.aborted) throw error;
    events.fail(error, visit.requestId);
  }
}

/** Server-sent events with the transcript as it grows. Until `start` they are kept. */
class TranscriptEvents {
  hasWritten = false;
  readonly #response: ServerResponse;
  #text = '';
  #kept: object[] | null = [];

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  start(): void {
    const kept = this.#kept ?? [];
    this.#kept = null;
    for (const event of kept) this.#write(event);
  }

  delta(text: string): void {
    if (text === '') return;
    const delta = this.#text === '' ? text : ` ${text}`;
    this.#text += delta;
    const event = { type: 'transcript.text.delta', delta };
    if (this.#kept === null) this.#write(event);
    else this.#kept.push(event);
  }

  done(transcript: FileTranscript): void {
    this.start();
    this.#write({ type: 'transcript.text.done', text: transcript.text, ...usage(transcript) });
    this.#response.end('data: [DONE]\n\n');
  }

  /** OpenAI's libraries throw an event that has an `error`. */
  fail(error: unknown, requestId: string): void {
    this.#write(errorBody('openai', toRefusal(error), requestId));
    this.#response.end();
  }

  #write(event: object): void {
    if (!this.hasWritten) {
      this.hasWritten = true;
      this.#response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        // nginx would hold the events back.
        'x-accel-buffering': 'no',
      });
    }
    this.#response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
}
