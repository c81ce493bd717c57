import { status, type ClientDuplexStream, type Metadata, type StatusObject } from '@grpc/grpc-js';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import type { EngineWord } from '../engine.ts';
import { AUDIO_HEADER_BYTES_MAX, encodeAudio } from '../grpc/audio-codec.ts';
import {
  ACKNOWLEDGE_EVERY,
  METADATA,
  type StreamingRecognizeRequest,
  type StreamingRecognitionResult,
  type StreamingRecognizeResponse,
  type WordInfo,
} from '../grpc/protocol.ts';
import { parseLoad, type LoadReport } from '../grpc/load-report.ts';
import {
  InvalidAnswer,
  readBuild,
  readSamples,
  readText,
  readWords,
  wordsMax,
} from '../recogniser-answer.ts';

type Alternative = NonNullable<StreamingRecognitionResult['alternatives']>[number];

export type RecognizeClientStream = ClientDuplexStream<
  StreamingRecognizeRequest,
  StreamingRecognizeResponse
>;

export interface PartialText {
  readonly text: string;
  readonly stableLength: number;
  readonly samples: number;
}

export type LossCause = 'disconnected' | 'silent' | 'recogniser' | 'deadline' | 'invalid_answer';

/** How a call ended: with its final, because the node had no slot, or because the node was lost. */
export type CallEnd =
  | { readonly end: 'final'; readonly text: string; readonly words: readonly EngineWord[] }
  | { readonly end: 'busy' }
  | { readonly end: 'lost'; readonly why: LossCause };

/** Riva's own servers call nothing stable before the final: they send 0 or close to it. */
const STABLE_FROM = 0.9;
const CANCEL_AFTER_MS = 250;
/** Well within the 90 s after which a node of ours gives a silent call up. */
const KEEP_ALIVE_MS = 20_000;
/** Responses that a working server sends: an acknowledgement or interim results for each piece of audio. */
const RESPONSES_MIN = 64;
const RESPONSES_PER_SECOND = 50;
const BYTES_PER_SECOND = AUDIO.sampleRateHz * AUDIO.bytesPerSample;
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
  /** Who waits for the transport. */
  readonly #senders = new Set<() => void>();
  #isOver = false;
  readonly #isOurs: boolean;
  #cancelling: NodeJS.Timeout | null = null;
  #hasAnswered = false;
  #isDisbelieved = false;
  #unanswered = 0;
  #sentBytes = 0;
  #responses = 0;
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
    this.accepted = this.#accepted.promise;
    void this.#end();
    input.call.on('metadata', (metadata: Metadata) => this.#believe(() => this.#opened(metadata)));
    input.call.on('data', (response: StreamingRecognizeResponse) =>
      this.#believe(() => this.#receive(response)),
    );
    // The status event reports it too.
    input.call.on('error', () => {});
    input.call.on('status', (ended: StatusObject) => this.#finish(ended));
  }

  /** Resolves when the transport has taken the message. */
  send(request: StreamingRecognizeRequest): Promise<void> {
    this.#sentAtMs = this.#nowMs();
    // Promise.race would keep something of each message until the call ends.
    return new Promise((resolve) => {
      const goOn = (): void => {
        this.#senders.delete(goOn);
        resolve();
      };
      this.#senders.add(goOn);
      this.#call.write(request, goOn);
      if (this.#isOver) goOn();
    });
  }

  /** Resolves when the node may get more: at most two messages of audio are ever unanswered. */
  async sendAudio(encoded: Buffer): Promise<void> {
    this.#unanswered += 1;
    this.#sentBytes += encoded.byteLength;
    await this.send({ encoded });
    // Other servers do not answer every message; HTTP/2's window holds us back there.
    if (!this.#isOurs || this.#isOver || this.#unanswered < ACKNOWLEDGE_EVERY) return;
    this.#answered ??= Promise.withResolvers<void>();
    await this.#answered.promise;
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
    this.#isOver = true;
    this.#accepted.resolve(false);
    this.#answered?.resolve();
    for (const goOn of this.#senders) goOn();
  }

  /** Ends the call as lost if its server sends what no working recogniser would. */
  #believe(read: () => void): void {
    if (this.#isDisbelieved) return;
    try {
      read();
    } catch (error) {
      if (!(error instanceof InvalidAnswer)) throw error;
      this.#isDisbelieved = true;
      this.#hasAnswered = true;
      this.#ended.resolve({ end: 'lost', why: 'invalid_answer' });
      this.#call.cancel();
    }
  }

  #opened(metadata: Metadata): void {
    this.#hasAnswered = true;
    this.build = readBuild(metadata.get(METADATA.build)[0]);
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
    this.#responses += 1;
    const responsesMax =
      RESPONSES_MIN + RESPONSES_PER_SECOND * Math.ceil(this.#sentBytes / BYTES_PER_SECOND);
    if (this.#responses > responsesMax) throw new InvalidAnswer('too many responses');
    if (results.length === 0) return this.#acknowledged();
    let partial = '';
    let stable = '';
    let isStable = true;
    let samples = 0;
    for (const { alternatives, isFinal, stability = 0, audioProcessed = 0 } of results) {
      const best = alternatives?.[0];
      const sent = this.#sentSamples;
      samples = Math.max(samples, readSamples(audioProcessed * AUDIO.sampleRateHz, sent));
      if (isFinal === true) {
        this.#addFinal(best);
        continue;
      }
      isStable &&= stability >= STABLE_FROM;
      partial = readText(partial + (best?.transcript ?? ''), sent);
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

  get #sentSamples(): number {
    return this.#sentBytes / AUDIO.bytesPerSample;
  }

  /** A server that finds pauses by itself sends several finals in one call. */
  #addFinal(best: Alternative | undefined): void {
    const { transcript = '', words = [] } = best ?? {};
    const sent = this.#sentSamples;
    this.#finalText = readText(join(this.#finalText, transcript), sent);
    if (this.#words.length + words.length > wordsMax(sent)) {
      throw new InvalidAnswer('too many words');
    }
    this.#words = [...this.#words, ...readWords(words.map(toWord), sent)];
  }

  #acknowledged(): void {
    if (this.#unanswered < ACKNOWLEDGE_EVERY) {
      throw new InvalidAnswer('an acknowledgement of nothing');
    }
    this.#unanswered -= ACKNOWLEDGE_EVERY;
    this.#answered?.resolve();
    this.#answered = null;
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
      this.#ended.resolve({ end: 'lost', why: this.#whyLost(code, isFromNode) });
    }
  }

  #whyLost(code: status, isFromNode: boolean): LossCause {
    if (code === status.DEADLINE_EXCEEDED) return 'deadline';
    if (code === status.UNAVAILABLE) return isFromNode ? 'recogniser' : 'disconnected';
    // Our nodes report their load when they end a call. Otherwise the transport did: the message was too long, or none.
    const isUnreadable = this.#isOurs && !isFromNode && code !== status.CANCELLED;
    return isUnreadable ? 'invalid_answer' : 'recogniser';
  }
}

function join(before: string, after: string): string {
  return [before.trim(), after.trim()].filter((part) => part !== '').join(' ');
}

/** A field with the value 0 is not sent, so 0 stands for a confidence or an end that the server doesn't know. */
function toWord({ word = '', startTime = 0, endTime = 0, confidence = 0 }: WordInfo): EngineWord {
  const time = { startMs: startTime, endMs: endTime === 0 ? startTime : endTime };
  return confidence === 0 ? { text: word, ...time } : { text: word, ...time, confidence };
}
