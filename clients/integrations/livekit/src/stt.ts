import { mergeFrames, stt, type APIConnectOptions, type AudioBuffer } from '@livekit/agents';
import { SvcClient, type ModelId } from '@svc-asr/sdk';
import { AudioConverter } from '@svc-asr/sdk/audio';
import { openStream, type GetSession } from '@svc-asr/sdk/stream';
import { languageOf, modelOf } from './language.ts';
import { shownText, speechData, toApiError } from './speech-events.ts';
import { SvcSpeechStream, withKeyterms } from './speech-stream.ts';

export interface SvcSTTOptions {
  /** `ki` (Kikuyu) or `luo` (Dholuo), also with a region. Pass it or `model`. */
  readonly language?: string;
  readonly model?: ModelId;
  /** Default: the environment variable SVC_API_KEY. */
  readonly apiKey?: string;
  /** Default: the environment variable SVC_BASE_URL. */
  readonly baseUrl?: string;
  /** A client of your own, instead of `apiKey` and `baseUrl`. */
  readonly client?: SvcClient;
  /** Audio reserved per session, 1 to 300. Sessions are renewed behind the stream. Default 300. */
  readonly maxAudioSeconds?: number;
  /** How much silence ends a turn, 200 to 5000. Default 500. */
  readonly silenceMs?: number;
  /** How much silence starts an answer early, from 160 to 100 less than `silenceMs`. Off by default. */
  readonly eagerMs?: number;
  /** Names and words to listen for, at most 100. */
  readonly keyterms?: readonly string[];
  /** Whether the agent gets numbers as digits. The words stay as they were said. */
  readonly numbers?: boolean;
}

const LABEL = 'svc.STT';

/** Speech-to-text for an `AgentSession`. One stream lasts as long as the conversation, over as many sessions as needed. */
export class SvcSTT extends stt.STT {
  readonly label = LABEL;
  readonly #options: SvcSTTOptions;
  readonly #model: ModelId;
  readonly #client: SvcClient;

  constructor(options: SvcSTTOptions) {
    super({ streaming: true, interimResults: true, alignedTranscript: 'word' });
    this.#options = options;
    this.#model = modelOf(options);
    this.#client = options.client ?? new SvcClient(options);
  }

  override get model(): string {
    return this.#model;
  }

  override get provider(): string {
    return 'svc-asr';
  }

  override stream(options: { connOptions?: APIConnectOptions } = {}): SvcSpeechStream {
    return new SvcSpeechStream(this, {
      getSession: this.#getSession(),
      language: languageOf(this.#model),
      silenceMs: this.#options.silenceMs ?? 500,
      eagerMs: this.#options.eagerMs,
      keyterms: this.#options.keyterms,
      numbers: this.#options.numbers ?? false,
      connOptions: options.connOptions,
    });
  }

  protected override async _recognize(
    buffer: AudioBuffer,
    signal?: AbortSignal,
  ): Promise<stt.SpeechEvent> {
    const { data, sampleRate, channels } = mergeFrames(buffer);
    const format = { encoding: 'pcm_s16le', sampleRateHz: sampleRate, channels } as const;
    const converter = new AudioConverter(format);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const stream = openStream({
      getSession: this.#getSession(),
      ...withKeyterms(this.#options.keyterms),
      numbers: this.#options.numbers ?? false,
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      await stream.write(converter.push(bytes));
      await stream.write(converter.end());
      const { words, finals, sessions } = await stream.finish();
      const text = finals.flatMap((final) => shownText(final) || []).join(' ');
      const end_ms = finals.at(-1)?.end_ms ?? 0;
      return {
        type: stt.SpeechEventType.FINAL_TRANSCRIPT,
        requestId: sessions.at(-1)?.sessionId ?? '',
        alternatives: [
          speechData({ text, start_ms: 0, end_ms, words }, languageOf(this.#model), 0),
        ],
      };
    } catch (error) {
      throw toApiError(error);
    }
  }

  #getSession(): GetSession {
    const { maxAudioSeconds = 300 } = this.#options;
    const params = { model: this.#model, maxAudioSeconds };
    return ({ signal }) => this.#client.sessions.create(params, { signal });
  }
}
