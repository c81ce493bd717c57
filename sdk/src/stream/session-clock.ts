import { AUDIO } from '@svc-asr/protocol/constants.ts';

const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1000;

/**
 * From a session's time to the caller's. A session hears audio without gaps; in the caller's time it may begin late
 * (an earlier session heard the rest) and leap (silence that was not sent).
 */
export class SessionClock {
  #pieces: { session: number; caller: number }[] = [];
  #heard = 0;

  /** How many samples this session was sent. */
  get heard(): number {
    return this.#heard;
  }

  hear(at: number, samples: number): void {
    const last = this.#pieces.at(-1);
    const expected = last === undefined ? null : last.caller + this.#heard - last.session;
    if (at !== expected) this.#pieces.push({ session: this.#heard, caller: at });
    this.#heard += samples;
  }

  /** A start lies in the piece that begins there, an end in the piece that ends there. */
  startMs(sessionMs: number): number {
    return this.#toCaller(sessionMs, (piece) => piece.session <= sessionMs * SAMPLES_PER_MS);
  }

  endMs(sessionMs: number): number {
    return this.#toCaller(sessionMs, (piece) => piece.session < sessionMs * SAMPLES_PER_MS);
  }

  #toCaller(sessionMs: number, reached: (piece: { session: number }) => boolean): number {
    const piece = this.#pieces.findLast(reached) ?? this.#pieces[0];
    if (piece === undefined) return sessionMs;
    return Math.round(sessionMs + (piece.caller - piece.session) / SAMPLES_PER_MS);
  }
}
