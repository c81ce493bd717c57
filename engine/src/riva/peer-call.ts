import { status, type ClientDuplexStream, type Metadata, type StatusObject } from '@grpc/grpc-js';
import { AUDIO } from '@svc-asr/protocol';
import type { EngineWord } from '../engine.ts';
import { AUDIO_HEADER_BYTES_MAX, encodeAudio } from '../grpc/audio-codec.ts';
import {
  ACKNOWLEDGE_EVERY,
  METADATA,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
  type WordInfo,
} from '../grpc/protocol.ts';
import { parseLoad, type LoadReport } from '../node/load-report.ts';

export type RecognizeClientStream = ClientDuplexStream<
  StreamingRecognizeRequest,
  StreamingRecognizeResponse
>;

export interface PartialText {
  readonly text: string;
  readonly stableLength: number;
  readonly samples: number;
}

/** How a call ended: with its final, because the node had no slot, or because the node was lost. */
export type CallEnd =
  | { readonly end: 'final'; readonly text: string; readonly words: readonly EngineWord[] }
  | { readonly end: 'busy' }
  | { readonly end: 'lost'; readonly why: 'disconnected' | 'silent' | 'recogniser' | 'deadline' };

/** Riva's own servers call nothing stable before the final: they send 0 or close to it. */
const STABLE_FROM = 0.9;
const CANCEL_AFTER_MS = 250;
/** Well within the 90 s after which a node of ours gives a silent call up. */
const KEEP_ALIVE_MS = 20_000;
const KEEP_ALIVE = {
  encoded: encodeAudio(
    Buffer.alloc(AUDIO_HEADER_BYTES_MAX),
    AUDIO_HEADER_BYTES_MAX,
    AUDIO_HEADER_BYTES_MAX,
  ),
};

/** One utterance at one node: a gRPC call from its configuration to its final. */
export class PeerCall {
  readonly ended: Promise<CallEnd>;
  /** Whether the node took the call. It says so before it takes audio. */
  readonly accepted: Promise<boolean>;
  readonly #call: RecognizeClientStream;
  readonly #ended = Promise.withResolvers<CallEnd>();
  readonly #accepted = Promise.withResolvers<boolean>();
  readonly #onText: (text: PartialText) => void;
  readonly #onLoad: (load: LoadReport) => void;
  readonly #nowMs: () => number;
  #sentAtMs: number;
  #isHalfClosed = false;
  #finalText = '';
  #words: EngineWord[] = [];
  readonly #over: Promise<void>;
  readonly #isOurs: boolean;
  #cancelling: NodeJS.Timeout | null = null;
  #hasAnswered = false;
  #unanswered = 0;
  #answered: PromiseWithResolvers<void> | null = null;
  build: string | null = null;

  constructor(input: {
    readonly call: RecognizeClientStream;
    /** Whether the server is a node of ours, which answers every message of audio. */
    readonly isOurs: boolean;
    readonly onText: (text: PartialText) => void;
    readonly onLoad: (load: LoadReport) => void;
    readonly nowMs: () => number;
  }) {
    this.#call = input.call;
    this.#onText = input.onText;
    this.#onLoad = input.onLoad;
    this.#isOurs = input.isOurs;
    this.#nowMs = input.nowMs;
    this.#sentAtMs = input.nowMs();
    this.ended = this.#ended.promise;
    this.#over = this.#end();
    this.accepted = this.#accepted.promise;
    input.call.on('metadata', (metadata: Metadata) => this.#opened(metadata));
    input.call.on('data', (response: StreamingRecognizeResponse) => this.#receive(response));
    // The status event reports it too.
    input.call.on('error', () => {});
    input.call.on('status', (ended: StatusObject) => this.#finish(ended));
  }

  /** Resolves when the transport has taken the message. */
  send(request: StreamingRecognizeRequest): Promise<void> {
    this.#sentAtMs = this.#nowMs();
    const written = new Promise<void>((resolve) => this.#call.write(request, () => resolve()));
    return Promise.race([written, this.#over]);
  }

  /** Resolves when the node may get more: at most two messages of audio are ever unanswered. */
  async sendAudio(encoded: Buffer): Promise<void> {
    this.#unanswered += 1;
    await this.send({ encoded });
    // Other servers do not answer every message; HTTP/2's window holds us back there.
    if (!this.#isOurs || this.#unanswered < ACKNOWLEDGE_EVERY) return;
    this.#answered ??= Promise.withResolvers<void>();
    await Promise.race([this.#answered.promise, this.#over]);
  }

  /**
   * Called periodically. A client may pause within an utterance for as long as its session lives, and the audio of
   * tiny frames waits in the gateway. Other servers may not know a message without audio.
   */
  keepAlive(): void {
    if (!this.#isOurs || !this.#hasAnswered || this.#isHalfClosed) return;
    if (this.#nowMs() - this.#sentAtMs >= KEEP_ALIVE_MS) void this.send(KEEP_ALIVE);
  }

  /** Asks for the final. */
  halfClose(): void {
    this.#isHalfClosed = true;
    this.#call.end();
  }

  /**
   * The server is not told of a call that is cancelled while it is being made: its slot would stay taken. So a new
   * call is cancelled when the server has answered it, or a little later.
   */
  cancel(): void {
    if (this.#hasAnswered) this.#call.cancel();
    else this.#cancelling ??= setTimeout(() => this.#call.cancel(), CANCEL_AFTER_MS);
  }

  /** Ends the call as lost before the transport notices. */
  giveUp(why: 'disconnected' | 'silent'): void {
    this.#ended.resolve({ end: 'lost', why });
    this.cancel();
  }

  async #end(): Promise<void> {
    await this.ended;
    this.#accepted.resolve(false);
  }

  #opened(metadata: Metadata): void {
    this.#hasAnswered = true;
    const [build] = metadata.get(METADATA.build);
    if (build !== undefined) this.build = String(build);
    this.#report(metadata);
    this.#accepted.resolve(true);
    if (this.#cancelling !== null) this.#call.cancel();
  }

  /** False when the metadata is not of a node of ours: the transport itself may have ended the call. */
  #report(metadata: Metadata): boolean {
    const load = parseLoad(metadata);
    if (load !== null) this.#onLoad(load);
    return load !== null;
  }

  #receive({ results = [] }: StreamingRecognizeResponse): void {
    if (results.length === 0) {
      this.#unanswered -= ACKNOWLEDGE_EVERY;
      this.#answered?.resolve();
      this.#answered = null;
      return;
    }
    let partial = '';
    let stable = '';
    let isStable = true;
    let samples = 0;
    for (const { alternatives, isFinal, stability = 0, audioProcessed = 0 } of results) {
      const best = alternatives?.[0];
      samples = Math.max(samples, Math.round(audioProcessed * AUDIO.sampleRateHz));
      if (isFinal === true) {
        // A server that finds pauses by itself sends several finals in one call.
        this.#finalText = join(this.#finalText, best?.transcript ?? '');
        this.#words.push(...(best?.words ?? []).map(toWord));
        continue;
      }
      isStable &&= stability >= STABLE_FROM;
      partial += best?.transcript ?? '';
      if (isStable) stable = partial;
    }
    if (partial.trim() === '') return;
    const text = join(this.#finalText, partial);
    const stableText = stable === '' ? this.#finalText : join(this.#finalText, stable);
    // Whatever is before the last word is stable only with the space after it.
    const stableLength = text.startsWith(`${stableText} `)
      ? stableText.length + 1
      : stableText.length;
    this.#onText({ text, stableLength, samples });
  }

  #finish({ code, metadata }: StatusObject): void {
    if (this.#cancelling !== null) clearTimeout(this.#cancelling);
    const isFromNode = this.#report(metadata);
    const isRefused =
      code === status.RESOURCE_EXHAUSTED || (code === status.UNAVAILABLE && isFromNode);
    if (code === status.OK) {
      this.#ended.resolve({ end: 'final', text: this.#finalText, words: this.#words });
    } else if (isRefused && !this.#hasAnswered) {
      this.#ended.resolve({ end: 'busy' });
    } else {
      this.#ended.resolve({ end: 'lost', why: whyLost(code, isFromNode) });
    }
  }
}

function whyLost(code: status, isFromNode: boolean): 'deadline' | 'disconnected' | 'recogniser' {
  if (code === status.DEADLINE_EXCEEDED) return 'deadline';
  return code === status.UNAVAILABLE && !isFromNode ? 'disconnected' : 'recogniser';
}

function join(before: string, after: string): string {
  return [before.trim(), after.trim()].filter((part) => part !== '').join(' ');
}

function toWord({ word = '', startTime = 0, endTime = 0, confidence = 0 }: WordInfo): EngineWord {
  const time = { startMs: startTime, endMs: endTime };
  return confidence === 0 ? { text: word, ...time } : { text: word, ...time, confidence };
}
