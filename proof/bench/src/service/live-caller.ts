import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerEvent } from '@svc-asr/protocol';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { compareWords } from '../engine/word-errors.ts';
import { FRAME_MS } from '../engine/in-real-time.ts';
import { Call } from './call.ts';
import { usageOf, type Tenant } from './fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Sessions end here; the longest one allowed takes 300 s. */
const SESSION_AUDIO_MS = 270_000;
/** Timeout for a final that never arrives. Long, because a busy machine may be slow. */
const FINAL_WITHIN_MS = 120_000;

export interface CallerTally {
  sessions: number;
  utterances: number;
  failed: number;
  lost: number;
  repeated: number;
  different_texts: number;
  broken_prefixes: number;
  billed_difference_ms: number;
}

export function emptyTally(): CallerTally {
  return {
    sessions: 0,
    utterances: 0,
    failed: 0,
    lost: 0,
    repeated: 0,
    different_texts: 0,
    broken_prefixes: 0,
    billed_difference_ms: 0,
  };
}

interface CallerInput {
  readonly service: ServiceProcess;
  readonly tenant: Tenant;
  readonly sentence: string;
  readonly tally: CallerTally;
  /** The text of its sentence with these weights. Default: that of the bundled model. */
  readonly expected?: string | undefined;
}

/** A client that streams sentences in real time and checks every result. */
export class LiveCaller {
  readonly #input: CallerInput;
  readonly #pcm: Uint8Array;
  readonly #expected: string;
  readonly #model: ReturnType<typeof speech>['model'];
  #lagMs = 0;
  #answers = 0;
  #isStopping = false;
  #billedMs = 0;

  constructor(input: CallerInput) {
    this.#input = input;
    const { pcm, expected, model } = speech(input.sentence);
    this.#pcm = pcm;
    this.#expected = input.expected ?? expected;
    this.#model = model;
  }

  /** The longest wait for an event since the last call. */
  takeLagMs(): number {
    const lagMs = this.#lagMs;
    this.#lagMs = 0;
    return lagMs;
  }

  /** Finals so far, and sessions that broke. */
  get answers(): number {
    return this.#answers;
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Streams until stopped, then compares the charge with the audio sent. */
  async run(onSpeaking: () => void): Promise<void> {
    const { service, tenant, tally } = this.#input;
    while (!this.#isStopping) await this.#session(onSpeaking);
    const usage = await usageOf(service.url, tenant);
    tally.billed_difference_ms += Math.abs(usage.consumed_ms - this.#billedMs);
  }

  async #session(onSpeaking: () => void): Promise<void> {
    const { service, tenant, tally } = this.#input;
    const body = { model: this.#model, max_audio_seconds: 300 };
    const call = await Call.open(service, tenant, body);
    tally.sessions += 1;
    for (let utterance = 0; !this.#isStopping && call.sentMs < SESSION_AUDIO_MS; utterance += 1) {
      const answered = await this.#utterance(call, utterance);
      this.#answers += 1;
      if (!answered) {
        tally.failed += 1;
        call.client.socket.terminate();
        return;
      }
      onSpeaking();
    }
    await call.client.close();
    this.#billedMs += call.billedMs;
  }

  /** Returns false if the stream broke. */
  async #utterance(call: Call, utterance: number): Promise<boolean> {
    const { client } = call;
    const sentAtMs: number[] = [];
    let stable = '';
    const onEvent = (event: ServerEvent): void => {
      if (event.type !== 'delta' || event.utterance !== utterance) return;
      if (!event.text.startsWith(stable)) this.#input.tally.broken_prefixes += 1;
      stable = event.text.slice(0, event.stable_chars);
      this.#waited(sentAtMs[Math.ceil(event.audio_ms / FRAME_MS) - 1]);
    };
    const seen = client.events.length;
    const finals = client.ofType('final').length;
    const listener = (data: Buffer): void => onEvent(JSON.parse(data.toString()));
    client.socket.on('message', listener);
    await call.speak(this.#pcm, () => void sentAtMs.push(performance.now()));
    const flushedAtMs = performance.now();
    const final = await Promise.race([call.flush(), sleep(FINAL_WITHIN_MS, null, { ref: false })]);
    client.socket.off('message', listener);
    client.events.splice(seen, client.events.length, ...client.ofType('final').slice(finals));
    if (final === null || client.ofType('error').length > 0) return false;
    this.#waited(flushedAtMs);
    if (!final.text.startsWith(stable)) this.#input.tally.broken_prefixes += 1;
    this.#compare(final.text);
    return true;
  }

  #waited(sinceMs: number | undefined): void {
    if (sinceMs !== undefined) this.#lagMs = Math.max(this.#lagMs, performance.now() - sinceMs);
  }

  #compare(text: string): void {
    const { tally } = this.#input;
    tally.utterances += 1;
    if (text === this.#expected) return;
    tally.different_texts += 1;
    const { missing, added } = compareWords(this.#expected.split(' '), text.split(' '));
    tally.lost += missing;
    tally.repeated += added;
  }
}
