/** Everything that can be made to go wrong, in the words of a client that must survive it. */
export const FAULTS = {
  'no-credit': 'POST /v1/asr/sessions answers 402 insufficient_credits',
  'busy-account': 'POST /v1/asr/sessions answers 429 concurrency_limit_exceeded',
  'rate-limit': 'POST /v1/asr/sessions answers 429 request_rate_exceeded',
  unavailable: 'POST /v1/asr/sessions answers 503 capacity_exceeded',
  'expired-credential': 'the upgrade is refused with 401 session_credential_expired',
  'engine-crash': 'the recogniser dies after so much audio: error internal_error, close 1011',
  'engine-hang': 'the recogniser falls silent after so much audio; noticed after 2 s, close 1011',
  'slow-start': 'the recogniser does not start: error initialization_timeout, close 1013',
  'slow-engine': 'the recogniser needs so long for each 1.12 s of audio',
  'engine-pause': 'after so much audio the recogniser takes none until the faults are cleared',
  restart: 'the server restarts after so much audio: final, error service_restart, close 1012',
  'connection-lost': 'after so much audio all connections break off without a word (1006)',
} as const;

export type FaultName = keyof typeof FAULTS;

export interface Fault {
  readonly name: FaultName;
  /** How many requests or streams meet it; then it is over. */
  readonly times: number;
  /** Audio after which it strikes, or for slow-engine the time each chunk takes. */
  readonly ms: number;
}

/** Without a number: soon after the first words. */
const DEFAULT_MS = 1_500;
const MS_MAX = 600_000;
const TIMES_MAX = 1_000_000;

/** Which faults are waiting for their victim. */
export class Faults {
  #armed: Fault[] = [];
  #cleared = Promise.withResolvers<void>();

  get armed(): readonly Fault[] {
    return this.#armed;
  }

  arm(fault: Fault): void {
    this.#armed.push(fault);
  }

  clear(): void {
    this.#armed = [];
    this.#cleared.resolve();
    this.#cleared = Promise.withResolvers();
  }

  /** The next `clear()`, for faults that last until then. */
  get cleared(): Promise<void> {
    return this.#cleared.promise;
  }

  /** The first waiting fault of these kinds; it then waits for one less. */
  strike<N extends FaultName>(...names: readonly N[]): (Fault & { readonly name: N }) | null {
    const isMeant = (fault: Fault): fault is Fault & { name: N } =>
      names.some((name) => name === fault.name);
    const found = this.#armed.find(isMeant);
    if (found === undefined) return null;
    this.#armed = this.#armed
      .map((fault) => (fault === found ? { ...fault, times: fault.times - 1 } : fault))
      .filter((fault) => fault.times > 0);
    return found;
  }
}

/** From what a person or a test wrote. A sentence when it cannot be meant. */
export function parseFault(input: {
  name: unknown;
  times?: unknown;
  ms?: unknown;
}): Fault | { readonly problem: string } {
  const { name, times = 1, ms = DEFAULT_MS } = input;
  if (!isFaultName(name)) {
    return { problem: `There is no such fault. There are: ${Object.keys(FAULTS).join(', ')}.` };
  }
  if (!isWhole(times, 1, TIMES_MAX)) return { problem: 'times is a whole number from 1.' };
  if (!isWhole(ms, 0, MS_MAX)) return { problem: `ms is a whole number from 0 to ${MS_MAX}.` };
  return { name, times, ms };
}

/** `engine-crash`, `engine-crash:3000` (after 3 s of audio), `unavailable*2` (twice), or both. */
export function parseFaultFlag(flag: string): Fault | { readonly problem: string } {
  const match = /^([a-z-]+)(?::(\d+))?(?:\*(\d+))?$/.exec(flag);
  if (match === null)
    return { problem: 'A fault is written NAME, NAME:MS, NAME*TIMES or NAME:MS*TIMES.' };
  const [, name, ms, times] = match;
  return parseFault({
    name,
    ...(ms === undefined ? {} : { ms: Number(ms) }),
    ...(times === undefined ? {} : { times: Number(times) }),
  });
}

function isFaultName(value: unknown): value is FaultName {
  return typeof value === 'string' && Object.hasOwn(FAULTS, value);
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}
