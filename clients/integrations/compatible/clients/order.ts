/** What the clients in this folder are asked to do, and what they print: one JSON object a line. */
interface Order {
  /** The program, such as `http://127.0.0.1:3002`. */
  readonly baseUrl: string;
  readonly runs: readonly Run[];
}

export interface Run {
  readonly check: string;
  readonly apiKey: string;
  readonly model: string;
  /** 16-bit mono WAV files with the same speech. */
  readonly wav16k: string;
  readonly wav24k: string;
}

/** `text` is the whole transcript. `error` is the message that the program's user sees. */
export interface Outcome {
  readonly text: string;
  readonly interims: number;
  readonly error: string | null;
}

type Printed =
  | { readonly check: string; readonly speaking: true }
  | ({ readonly check: string } & Outcome);

const RUN_MS_MAX = 60_000;

/** Runs one check after another. `speaking` tells the caller that audio is on its way. */
export async function serve(
  client: (input: Run & { readonly baseUrl: string }, speaking: () => void) => Promise<Outcome>,
): Promise<void> {
  const { baseUrl, runs }: Order = JSON.parse(process.argv[2] ?? '');
  for (const run of runs) {
    const { check } = run;
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('The client did not end.')), RUN_MS_MAX).unref();
    });
    const outcome = await Promise.race([
      client({ ...run, baseUrl }, () => print({ check, speaking: true })),
      late,
    ]).catch((error: unknown) => ({ text: '', interims: 0, error: messageOf(error) }));
    print({ check, ...outcome });
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function print(line: Printed): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
