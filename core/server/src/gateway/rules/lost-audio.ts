import { createHash, type Hash } from 'node:crypto';
import { AUDIO } from '@svc-asr/protocol';

/** The last utterances of a session that lost its client, the oldest first. */
export interface LostAudio {
  readonly sessionId: string;
  readonly lengths: readonly number[];
  readonly digests: readonly string[];
}

/** A final can be lost with the connection, so the client may send audio again from an earlier utterance on. */
const UTTERANCES_MAX = 8;
/**
 * The session's id is in the digest, so that digests of two sessions never say that their audio is equal. Digests are not
 * shortened: with a short one, a client could make two recordings with the same digest, pay for one and send the other.
 */
function start(sessionId: string): Hash {
  return createHash('sha256').update(sessionId);
}

function finish(hash: Hash): string {
  return hash.digest('hex');
}

interface Utterance {
  readonly length: number;
  readonly digest: string;
  readonly endSample: number;
}

/** Follows the accepted audio of a stream, so that it can be recognised when its client sends it again. */
export class AudioDigests {
  readonly #sessionId: string;
  #utterances: Utterance[] = [];
  #hash: Hash;
  #length = 0;
  /** Of all utterances so far. */
  #samples = 0;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
    this.#hash = start(sessionId);
  }

  add(pcm: Uint8Array): void {
    this.#hash.update(pcm);
    this.#length += pcm.byteLength / AUDIO.bytesPerSample;
  }

  /** An utterance ends here. */
  cut(): void {
    if (this.#length === 0) return;
    const length = this.#length;
    const utterance = { length, digest: finish(this.#hash), endSample: this.#samples + length };
    this.#utterances = [...this.#utterances, utterance].slice(-UTTERANCES_MAX);
    this.drop();
  }

  /** What came since the last utterance is not sent again. */
  drop(): void {
    this.#hash = start(this.#sessionId);
    this.#samples += this.#length;
    this.#length = 0;
  }

  /** Call it once, when the stream has lost its client. Only utterances within the charged samples were paid. */
  end(chargedSamples: number): LostAudio {
    this.cut();
    const paid = this.#utterances.filter(({ endSample }) => endSample <= chargedSamples);
    return {
      sessionId: this.#sessionId,
      lengths: paid.map(({ length }) => length),
      digests: paid.map(({ digest }) => digest),
    };
  }
}

/** The first samples of a stream, and the session that was charged for them. */
export interface Replayed {
  readonly sessionId: string;
  readonly samples: number;
}

/** Audio of one lost session from one of its utterances on, as far as a stream has sent it again. */
class Candidate {
  readonly #lost: LostAudio;
  #at: number;
  #hash: Hash;
  #left: number;
  #samples = 0;

  constructor(lost: LostAudio, at: number) {
    this.#lost = lost;
    this.#at = at;
    this.#hash = start(lost.sessionId);
    this.#left = lost.lengths[at] ?? 0;
  }

  get replayed(): Replayed {
    return { sessionId: this.#lost.sessionId, samples: this.#samples };
  }

  /** Returns whether more of it can follow. */
  add(pcm: Uint8Array): boolean {
    let rest = pcm;
    while (rest.byteLength > 0) {
      const part = rest.subarray(0, this.#left * AUDIO.bytesPerSample);
      this.#hash.update(part);
      this.#left -= part.byteLength / AUDIO.bytesPerSample;
      rest = rest.subarray(part.byteLength);
      if (this.#left > 0) return true;
      if (finish(this.#hash) !== this.#lost.digests[this.#at]) return false;
      this.#samples += this.#lost.lengths[this.#at] ?? 0;
      this.#at += 1;
      if (this.#at === this.#lost.lengths.length) return false;
      this.#left = this.#lost.lengths[this.#at] ?? 0;
      this.#hash = start(this.#lost.sessionId);
    }
    return true;
  }
}

/** Audio that waits until the lost sessions are known. More than this is charged like any other. */
const WAITING_BYTES_MAX = 2 * 1024 * 1024;

/** Compares the first audio of a stream with what its lost sessions were charged for. Only equal audio is free. */
export class ReplayedAudio {
  #candidates: readonly Candidate[] = [];
  /** Null: the lost sessions are known, or there was too much. */
  #waiting: Uint8Array[] | null = [];
  #waitingBytes = 0;
  #best: Replayed | null = null;

  /** The longest match so far. */
  get replayed(): Replayed | null {
    return this.#best;
  }

  add(pcm: Uint8Array): void {
    if (this.#waiting === null) return this.#compare(pcm);
    this.#waiting.push(pcm);
    this.#waitingBytes += pcm.byteLength;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#waiting = null;
  }

  know(lost: readonly LostAudio[]): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#waiting = null;
    this.#candidates = lost.flatMap((one) => one.lengths.map((_, at) => new Candidate(one, at)));
    for (const pcm of waiting) this.#compare(pcm);
  }

  #compare(pcm: Uint8Array): void {
    if (this.#candidates.length === 0) return;
    const all = this.#candidates;
    this.#candidates = all.filter((candidate) => candidate.add(pcm));
    for (const { replayed } of all) {
      if (replayed.samples > (this.#best?.samples ?? 0)) this.#best = replayed;
    }
  }
}
