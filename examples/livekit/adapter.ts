import type { ModelId, SvcClient } from '@svc-asr/sdk';
import { AudioConverter } from '@svc-asr/sdk/audio';
import { openStream, type SvcStream } from '@svc-asr/sdk/stream';

/** In the shape of LiveKit agents' speech-to-text plugins: frames in, speech events out. */
export interface AudioFrame {
  readonly data: Int16Array;
  readonly sampleRate: number;
  readonly channels: number;
}

export type SpeechEvent =
  | {
      readonly type: 'interim_transcript' | 'final_transcript';
      readonly alternatives: readonly {
        readonly text: string;
        readonly language: string;
        readonly startTime: number;
        readonly endTime: number;
        readonly confidence: number;
      }[];
    }
  | {
      readonly type: 'recognition_usage';
      readonly recognitionUsage: { readonly audioDuration: number };
    };

export class SvcSTT {
  readonly label = 'svc.STT';
  readonly capabilities = { streaming: true, interimResults: true };
  readonly #client: SvcClient;
  readonly #model: ModelId;

  constructor(options: { client: SvcClient; model: ModelId }) {
    this.#client = options.client;
    this.#model = options.model;
  }

  stream(): SvcSpeechStream {
    const language = this.#model === 'svc-asr-kikuyu-v1' ? 'ki' : 'luo';
    const params = { model: this.#model, maxAudioSeconds: 300 };
    const getSession = () => this.#client.sessions.create(params);
    return new SvcSpeechStream(openStream({ getSession }), language);
  }
}

export class SvcSpeechStream implements AsyncIterable<SpeechEvent> {
  readonly #stream: SvcStream;
  readonly #language: string;
  #converter: AudioConverter | null = null;

  constructor(stream: SvcStream, language: string) {
    this.#stream = stream;
    this.#language = language;
  }

  pushFrame({ data, sampleRate, channels }: AudioFrame): void {
    const format = { encoding: 'pcm_s16le', sampleRateHz: sampleRate, channels } as const;
    this.#converter ??= new AudioConverter(format);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    void this.#stream.write(this.#converter.push(bytes));
  }

  /** The end of a turn. */
  flush(): void {
    void this.#stream.flush();
  }

  endInput(): void {
    if (this.#converter !== null) void this.#stream.write(this.#converter.end());
    void this.#stream.finish().catch(() => {});
  }

  close(): void {
    void this.#stream.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SpeechEvent> {
    for await (const event of this.#stream) {
      if (event.type === 'delta') {
        yield this.#speech('interim_transcript', event.text, 0, event.audio_ms);
      } else if (event.type === 'final') {
        yield this.#speech('final_transcript', event.text, event.start_ms, event.end_ms);
        yield {
          type: 'recognition_usage',
          recognitionUsage: { audioDuration: event.audio_ms / 1000 },
        };
      }
    }
  }

  #speech(
    type: 'interim_transcript' | 'final_transcript',
    text: string,
    startMs: number,
    endMs: number,
  ): SpeechEvent {
    const times = { startTime: startMs / 1000, endTime: endMs / 1000 };
    // The engine gives no confidence: 1 is what LiveKit takes for "not told".
    return { type, alternatives: [{ text, language: this.#language, ...times, confidence: 1 }] };
  }
}
