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

  /**
   * A moment of an utterance that begins at `origin`. Counted from there, so that it is to the millisecond what one
   * session alone would have said; only after a leap is it counted from the leap.
   */
  toCaller(sessionMs: number, origin: Origin, edge: 'start' | 'end'): number {
    const samples = sessionMs * SAMPLES_PER_MS;
    // A start lies in the piece that begins there, an end in the piece that ends there.
    const piece = this.#pieces.findLast(({ session }) =>
      edge === 'start' ? session <= samples : session < samples,
    );
    if (piece === undefined || piece.session <= origin.sessionMs * SAMPLES_PER_MS) {
      return origin.callerMs + sessionMs - origin.sessionMs;
    }
    return floorMs(piece.caller) + sessionMs - floorMs(piece.session);
  }
}

/** The same moment in both times. */
export interface Origin {
  readonly sessionMs: number;
  readonly callerMs: number;
}

export function floorMs(samples: number): number {
  return Math.floor(samples / SAMPLES_PER_MS);
}

export function ceilMs(samples: number): number {
  return Math.ceil(samples / SAMPLES_PER_MS);
}
