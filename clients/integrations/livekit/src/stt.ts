import { mergeFrames, stt, type APIConnectOptions, type AudioBuffer } from '@livekit/agents';
import { SvcClient, type ModelId } from '@svc-asr/sdk';
import { AudioConverter } from '@svc-asr/sdk/audio';
import { openStream } from '@svc-asr/sdk/stream';
import { languageOf, modelOf } from './language.ts';
import { shownText, speechData, toApiError } from './speech-events.ts';
import { SvcSpeechStream, withKeyterms, type StreamSettings } from './speech-stream.ts';

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

/** What `updateOptions` can change. */
export type SvcSTTUpdate = Pick<
  SvcSTTOptions,
  'language' | 'model' | 'silenceMs' | 'keyterms' | 'numbers'
>;

const LABEL = 'svc.STT';

/** Speech-to-text for an `AgentSession`. One stream lasts as long as the conversation, over as many sessions as needed. */
export class SvcSTT extends stt.STT {
  readonly label = LABEL;
  readonly #options: SvcSTTOptions;
  readonly #client: SvcClient;
  #model: ModelId;
  #settings: StreamSettings;
  #keyterms: readonly string[] | undefined;
  #ownKeyterms: readonly string[] | undefined;
  /** LiveKit's own: those of the session, and those it heard in the conversation. */
  #sessionKeyterms: readonly string[] = [];

  constructor(options: SvcSTTOptions) {
    super({ streaming: true, interimResults: true, alignedTranscript: 'word', keyterms: true });
    this.#options = options;
    this.#model = modelOf(options);
    this.#client = options.client ?? new SvcClient(options);
    this.#ownKeyterms = options.keyterms;
    this.#keyterms = options.keyterms;
    const { silenceMs = 500, eagerMs, numbers = false } = options;
    this.#settings = { silenceMs, eagerMs, numbers, ...this.#forModel() };
  }

  /**
   * Changes what is passed, also for streams that are open. New keyterms count from the next utterance on. Any other change
   * ends the turn, whose words still become final, and opens a new stream for the next audio.
   */
  updateOptions({ keyterms, ...update }: SvcSTTUpdate): void {
    if (update.language !== undefined || update.model !== undefined) this.#model = modelOf(update);
    const { silenceMs = this.#settings.silenceMs, numbers = this.#settings.numbers } = update;
    if (Object.keys(update).length > 0) {
      this.#settings = { ...this.#settings, silenceMs, numbers, ...this.#forModel() };
    }
    if (keyterms === undefined) return;
    this.#ownKeyterms = keyterms;
    this.#mergeKeyterms();
  }

  override _updateSessionKeyterms(keyterms: string[]): void {
    this.#sessionKeyterms = keyterms;
    this.#mergeKeyterms();
  }

  override get model(): string {
    return this.#model;
  }

  override get provider(): string {
    return 'svc-asr';
  }

  override stream(options: { connOptions?: APIConnectOptions } = {}): SvcSpeechStream {
    return new SvcSpeechStream(this, {
      settings: () => this.#settings,
      keyterms: () => this.#keyterms,
      connOptions: options.connOptions,
    });
  }

  protected override async _recognize(
    buffer: AudioBuffer,
    signal?: AbortSignal,
  ): Promise<stt.SpeechEvent> {
    const { data, sampleRate, channels } = mergeFrames(buffer);
    const { getSession, numbers, language } = this.#settings;
    const format = { encoding: 'pcm_s16le', sampleRateHz: sampleRate, channels } as const;
    const converter = new AudioConverter(format);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const stream = openStream({
      getSession,
      ...withKeyterms(this.#keyterms),
      numbers,
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
        alternatives: [speechData({ text, start_ms: 0, end_ms, words }, language, 0)],
      };
    } catch (error) {
      throw toApiError(error);
    }
  }

  /** Your keyterms go first. Streams use them from their next audio on. */
  #mergeKeyterms(): void {
    this.#keyterms = [...new Set([...(this.#ownKeyterms ?? []), ...this.#sessionKeyterms])];
  }

  #forModel(): Pick<StreamSettings, 'language' | 'getSession'> {
    const { maxAudioSeconds = 300 } = this.#options;
    const params = { model: this.#model, maxAudioSeconds };
    return {
      language: languageOf(this.#model),
      getSession: ({ signal }) => this.#client.sessions.create(params, { signal }),
    };
  }
}
