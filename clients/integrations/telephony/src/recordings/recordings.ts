import { findLanguage, languageOf, type Language } from '@svc-asr/protocol/languages.ts';
import { AudioFileError, decodeFile } from '@svc-asr/runtime/decode-audio.ts';
import { spool } from '@svc-asr/runtime/spool-audio.ts';
import { SvcError } from '@svc-asr/sdk';
import { adviceFor } from '../advice.ts';
import type { BridgeOptions, RecordingOptions } from '../bridge-options.ts';
import type { RefusalCode } from '../call-context.ts';
import type { RecordedTurn, RecordingTranscript } from '../events.ts';
import type { FormAnswer } from '../forms.ts';
import type { BridgeMetrics } from '../metrics.ts';
import { callId, parametersOf } from '../parameters.ts';
import { fetchRecording, isAllowedUrl } from './fetch-recording.ts';
import { RecordingError } from './recording-error.ts';
import { transcribeRecording, type RecordingStreamOptions } from './transcribe-recording.ts';

export const RECORDING_LIMITS = {
  /** Each has an ffmpeg process and a file on the disk. */
  atOnce: 4,
  waiting: 200,
  bytes: 100_000_000,
  audioMs: 2 * 60 * 60_000,
  fetchMs: 300_000,
  /** From the fetch to the transcript. */
  wholeMs: 3_600_000,
  stallMs: 30_000,
} as const;
const TURNS_MAX = 10_000;

/** Their names in the callbacks of Africa's Talking and Twilio, and our own. */
const URL_FIELDS = ['recordingUrl', 'RecordingUrl', 'url'];
const CALL_FIELDS = ['sessionId', 'CallSid', 'call'];
/** Africa's Talking takes the answer for what the call does next: nothing more. */
const TAKEN: FormAnswer = {
  status: 200,
  contentType: 'application/xml',
  text: '<?xml version="1.0" encoding="UTF-8"?><Response/>\n',
};

interface Recording {
  readonly url: URL;
  readonly call: string;
  readonly language: Language;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Recordings that telephone systems announce: fetched from allowed hosts, transcribed, and reported as one event each. */
export class Recordings {
  readonly #options: BridgeOptions;
  readonly #recordings: RecordingOptions;
  readonly #metrics: BridgeMetrics;
  readonly #refuse: (code: RefusalCode, message: string) => void;
  readonly #waiting: Recording[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(input: {
    readonly options: BridgeOptions;
    readonly recordings: RecordingOptions;
    readonly metrics: BridgeMetrics;
    /** Reports a refused recording to the operator. */
    readonly refuse: (code: RefusalCode, message: string) => void;
  }) {
    this.#options = input.options;
    this.#recordings = input.recordings;
    this.#metrics = input.metrics;
    this.#refuse = input.refuse;
    input.metrics.gauge('svc_telephony_recordings', () => this.#count);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get #count(): number {
    return this.#running.size + this.#waiting.length;
  }

  /** Answers a callback. A recording that is already here is not transcribed twice. */
  take(form: URLSearchParams): FormAnswer {
    const given = URL_FIELDS.map((name) => form.get(name)).find((value) => value !== null);
    // Africa's Talking calls the same address for calls without a recording.
    if (given === '' || (given === undefined && form.has('isActive'))) return TAKEN;
    const url = given !== undefined && URL.canParse(given) ? new URL(given) : null;
    if (url === null) return { status: 400, text: 'Send the address as recordingUrl or url.\n' };
    if (!isAllowedUrl(url, this.#recordings)) {
      const { message } = new RecordingError('host_not_allowed');
      return this.#refused(403, 'host_not_allowed', `A recording was refused. ${message}`);
    }
    const asked = form.get('language');
    const language = asked === null ? languageOf(this.#options.model) : findLanguage(asked);
    if (language === null) {
      return this.#refused(400, 'unsupported_language', 'A recording is in neither ki nor luo.');
    }
    if (this.#running.has(url.href) || this.#waiting.some((other) => other.url.href === url.href)) {
      return TAKEN;
    }
    if (this.#waiting.length >= RECORDING_LIMITS.waiting) {
      const full = `A recording was refused: ${RECORDING_LIMITS.waiting} are waiting.`;
      return this.#refused(503, 'busy', full);
    }
    const call = callId('recording', ...CALL_FIELDS.map((name) => form.get(name)));
    const known = new Set([...URL_FIELDS, ...CALL_FIELDS, 'language']);
    const others = [...form].filter(([name]) => !known.has(name));
    const parameters = parametersOf(Object.fromEntries(others));
    this.#waiting.push({ url, call, language, parameters });
    this.#startNext();
    return TAKEN;
  }

  /** Ends every recording. Each still gets its event. */
  async stop(): Promise<void> {
    this.#stop.abort(new RecordingError('stopped'));
    while (!this.isEmpty) await Promise.all(this.#running.values());
  }

  #refused(status: number, code: RefusalCode, message: string): FormAnswer {
    this.#refuse(code, message);
    return { status, text: `${message}\n` };
  }

  #startNext(): void {
    while (this.#running.size < RECORDING_LIMITS.atOnce) {
      const recording = this.#waiting.shift();
      if (recording === undefined) return;
      const { href } = recording.url;
      const done = this.#transcribe(recording).finally(() => {
        this.#running.delete(href);
        this.#startNext();
      });
      this.#running.set(href, done);
    }
  }

  async #transcribe(recording: Recording): Promise<void> {
    const { url: _, ...about } = recording;
    const turns: RecordedTurn[] = [];
    let [audioMs, reason] = [0, 'completed'];
    try {
      await this.#run(recording, {
        onTurn: (turn) => turns.push(turn),
        onAudio: (ms) => (audioMs = ms),
      });
    } catch (error) {
      const { code, message } = explain(error);
      reason = code;
      const notice = `The recording was not transcribed. ${message}`;
      this.#options.onNotice?.({ level: 'error', code, message: notice, call: recording.call });
    }
    const outcome = reason === 'completed' ? 'completed' : 'failed';
    this.#metrics.count('svc_telephony_recordings_total', { outcome });
    this.#metrics.count('svc_telephony_audio_seconds_total', null, audioMs / 1000);
    const event: RecordingTranscript = {
      type: 'recording',
      ...about,
      time: new Date().toISOString(),
      reason,
      audio_ms: audioMs,
      turns: turns.slice(0, TURNS_MAX),
      truncated: turns.length > TURNS_MAX,
    };
    this.#options.onEvent(event);
  }

  /** Fetches the whole file first, so that its server needn't wait for the service. */
  async #run(
    { url, language }: Recording,
    progress: Pick<RecordingStreamOptions, 'onTurn' | 'onAudio'>,
  ): Promise<void> {
    const { bytes, audioMs, wholeMs, stallMs } = RECORDING_LIMITS;
    const { ffmpeg = 'ffmpeg', ca, fetchMs = RECORDING_LIMITS.fetchMs } = this.#recordings;
    const { client, silenceMs = 700, keyterms = [] } = this.#options;
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(wholeMs)]);
    const fetching = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
    fetching.throwIfAborted();
    const source = fetchRecording(url, {
      hosts: this.#recordings,
      signal: fetching,
      bytesMax: bytes,
      ...(ca === undefined ? {} : { ca }),
    });
    const room = { take: () => undefined, giveAll: () => undefined };
    const file = await spool(source, room).catch((error: unknown) => {
      throw fetching.aborted ? fetching.reason : error;
    });
    try {
      const pcm = decodeFile(file.handle, {
        signal,
        ffmpeg,
        audioMs,
        stallMs,
        spool: () => Promise.reject(new Error('The file is on the disk.')),
      });
      const options = { client, language, silenceMs, keyterms, signal, waitMsMax: wholeMs };
      await transcribeRecording(pcm, { ...options, ...progress });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      await file.close();
    }
  }
}

function explain(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof RecordingError || error instanceof AudioFileError) return error;
  if (error instanceof SvcError) return { code: error.code, message: adviceFor(error.code) };
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new RecordingError('timeout');
  }
  return { code: 'internal_error', message: 'Something went wrong in the bridge.' };
}
