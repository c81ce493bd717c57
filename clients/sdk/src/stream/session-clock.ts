import { SAMPLES_PER_MS } from '@svc-asr/protocol/constants.ts';

/**
 * Converts a session's time to the caller's time. A session receives audio without gaps. In the caller's time that
 * audio may start late (an earlier session received the rest) and have gaps (skipped silence).
 */
export class SessionClock {
  #segments: { session: number; caller: number }[] = [];
  #sentSamples = 0;

  /** How many samples were sent to this session. */
  get sentSamples(): number {
    return this.#sentSamples;
  }

  /** Records that samples were sent which begin at `at` in the caller's time. */
  advance(at: number, samples: number): void {
    const last = this.#segments.at(-1);
    const expected = last === undefined ? null : last.caller + this.#sentSamples - last.session;
    if (at !== expected) this.#segments.push({ session: this.#sentSamples, caller: at });
    this.#sentSamples += samples;
  }

  /** Converts a time of the session that belongs to no utterance. */
  callerMs(sessionMs: number): number {
    const callerMs = floorMs(this.#segments[0]?.caller ?? 0);
    return this.toCaller(sessionMs, { sessionMs: 0, callerMs }, 'start');
  }

  /**
   * Converts a time inside an utterance that begins at `origin`. Counting from the origin gives the same millisecond
   * as a single session would; only times after a gap are counted from the gap.
   */
  toCaller(sessionMs: number, origin: Origin, edge: 'start' | 'end'): number {
    const samples = sessionMs * SAMPLES_PER_MS;
    // A start belongs to the segment that begins there, an end to the segment that ends there.
    const segment = this.#segments.findLast(({ session }) =>
      edge === 'start' ? session <= samples : session < samples,
    );
    if (segment === undefined || segment.session <= origin.sessionMs * SAMPLES_PER_MS) {
      return origin.callerMs + sessionMs - origin.sessionMs;
    }
    return floorMs(segment.caller) + sessionMs - floorMs(segment.session);
  }
}

/** One moment in both times. */
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
