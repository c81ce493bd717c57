/** Every fault the emulator can inject, described as the client sees it. */
export const FAULTS = {
  'no-credit': 'POST /v1/asr/sessions returns 402 insufficient_credits',
  'busy-account': 'POST /v1/asr/sessions returns 429 concurrency_limit_exceeded',
  'rate-limit': 'POST /v1/asr/sessions returns 429 request_rate_exceeded',
  unavailable: 'POST /v1/asr/sessions returns 503 capacity_exceeded',
  'revoked-key': 'POST /v1/asr/sessions returns 401 revoked_api_key',
  'http-500': 'POST /v1/asr/sessions returns 500 with a page, as a proxy does',
  'http-hang': 'POST /v1/asr/sessions gets no response',
  'expired-credential': 'the upgrade is refused with 401 session_credential_expired',
  'engine-crash': 'the recogniser dies after MS of audio: error internal_error, close 1011',
  'engine-hang': 'the recogniser stops after MS of audio; close 1011 follows 2 s later',
  'slow-start': 'the recogniser does not start: error initialization_timeout, close 1013',
  'slow-engine': 'the recogniser takes MS for each 1.12 s of audio',
  'late-final': 'deltas come in time, and each final of the stream MS late',
  'engine-pause': 'after MS of audio the recogniser takes no more until the faults are cleared',
  restart: 'the server restarts after MS of audio: final, error service_restart, close 1012',
  'connection-lost': 'the connection breaks after MS of audio, without a close frame (1006)',
} as const;

export type FaultName = keyof typeof FAULTS;

/** The faults for which `ms` means something. Requests and upgrades meet the others at once. */
const WITH_MS: ReadonlySet<FaultName> = new Set([
  'engine-crash',
  'engine-hang',
  'slow-engine',
  'late-final',
  'engine-pause',
  'restart',
  'connection-lost',
]);

export interface Fault {
  readonly name: FaultName;
  /** How many requests or streams meet it. */
  readonly times: number;
  /** Audio after which it happens; for slow-engine the time each chunk takes; for late-final the delay. */
  readonly ms: number;
}

/** A fault assigned to one stream, which meets it later or not at all. */
export interface Claim<N extends FaultName = FaultName> {
  readonly fault: Fault & { readonly name: N };
  /** The fault happened. */
  met(): void;
  /** The stream ended first. The fault stays armed for the next one. */
  release(): void;
}

/** Default for faults after some audio: soon after the first words. */
const DEFAULT_MS = 1_500;
const MS_MAX = 600_000;
const TIMES_MAX = 1_000_000;

interface Entry {
  readonly fault: Fault;
  left: number;
  claimed: number;
}

/** The faults that are armed, and those that clients have met. */
export class Faults {
  #entries: Entry[] = [];
  #met: Fault[] = [];
  #cleared = Promise.withResolvers<void>();

  /** Faults that no client has met yet. `times` is how often each is still to happen. */
  get armed(): readonly Fault[] {
    return this.#entries.map(({ fault, left }) => ({ ...fault, times: left }));
  }

  /** Every fault that happened, in order. */
  get met(): readonly Fault[] {
    return this.#met;
  }

  arm(fault: Fault): void {
    this.#entries.push({ fault, left: fault.times, claimed: 0 });
  }

  /** Disarms all faults and returns those that no client had met. */
  clear(): readonly Fault[] {
    const unmet = this.armed;
    this.#entries = [];
    this.#cleared.resolve();
    this.#cleared = Promise.withResolvers<void>();
    return unmet;
  }

  /** Disarms all faults. Throws if one never happened: the test that armed it has tested nothing. */
  assertAllMet(): void {
    const unmet = this.clear();
    if (unmet.length === 0) return;
    throw new Error(`These faults never happened: ${unmet.map(formatFault).join(', ')}.`);
  }

  /** Resolves at the next `clear()`, for faults that last until then. */
  get cleared(): Promise<void> {
    return this.#cleared.promise;
  }

  /** Takes the first armed fault of these kinds for a request, which meets it at once. */
  strike<N extends FaultName>(...names: readonly N[]): (Fault & { readonly name: N }) | null {
    const claim = this.claim(...names);
    claim?.met();
    return claim?.fault ?? null;
  }

  /** Assigns the first armed fault of these kinds to a stream. */
  claim<N extends FaultName>(...names: readonly N[]): Claim<N> | null {
    const isWanted = (entry: Entry): entry is Entry & { fault: { name: N } } =>
      entry.left > entry.claimed && names.some((name) => name === entry.fault.name);
    const entry = this.#entries.find(isWanted);
    if (entry === undefined) return null;
    entry.claimed += 1;
    let isSettled = false;
    const settle = (work: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      entry.claimed -= 1;
      work();
    };
    return {
      fault: entry.fault,
      met: () => settle(() => this.#onMet(entry)),
      release: () => settle(() => {}),
    };
  }

  #onMet(entry: Entry): void {
    entry.left -= 1;
    this.#met.push({ ...entry.fault, times: 1 });
    if (entry.left === 0) this.#entries = this.#entries.filter((each) => each !== entry);
  }
}

/** Validates a fault from a command line or a request. Returns a problem to show if it is invalid. */
export function parseFault(input: {
  name: unknown;
  times?: unknown;
  ms?: unknown;
}): Fault | { readonly problem: string } {
  const { name, times = 1, ms = DEFAULT_MS } = input;
  if (!isFaultName(name)) {
    return { problem: `Unknown fault. Use one of: ${Object.keys(FAULTS).join(', ')}.` };
  }
  if (!isWhole(times, 1, TIMES_MAX)) return { problem: 'times must be a whole number from 1.' };
  if (!isWhole(ms, 0, MS_MAX)) {
    return { problem: `ms must be a whole number from 0 to ${MS_MAX}.` };
  }
  return { name, times, ms };
}

/** Parses `engine-crash`, `engine-crash:3000` (after 3 s of audio), `unavailable*2` (twice), or both. */
export function parseFaultFlag(flag: string): Fault | { readonly problem: string } {
  const match = /^([a-z-]+)(?::(\d+))?(?:\*(\d+))?$/.exec(flag);
  if (match === null) return { problem: 'Write NAME, NAME:MS, NAME*TIMES or NAME:MS*TIMES.' };
  const [, name, ms, times] = match;
  return parseFault({
    name,
    ...(ms === undefined ? {} : { ms: Number(ms) }),
    ...(times === undefined ? {} : { times: Number(times) }),
  });
}

/** Formats a fault as `parseFaultFlag` reads it. */
export function formatFault({ name, ms, times }: Fault): string {
  return `${name}${WITH_MS.has(name) ? `:${ms}` : ''}${times === 1 ? '' : `*${times}`}`;
}

/** Names faults that no client met, and says what would make clients meet them. */
export function explainUnmet(faults: readonly Fault[]): string {
  const names = faults.map(formatFault).join(', ');
  const hints = [`Faults that no client met: ${names}.`];
  if (faults.some(({ name }) => !WITH_MS.has(name))) {
    hints.push('Make more requests or streams, or lower TIMES.');
  }
  if (faults.some(({ name }) => WITH_MS.has(name))) hints.push('Send more audio, or lower MS.');
  return hints.join(' ');
}

function isFaultName(value: unknown): value is FaultName {
  return typeof value === 'string' && Object.hasOwn(FAULTS, value);
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}
