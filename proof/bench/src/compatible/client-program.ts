import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { killOnExit } from '@svc-asr/local/child-process.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const CLIENTS = join(ROOT, 'clients/integrations/compatible/clients');
const PYTHON = join(ROOT, '.cache/python/bin/python');
const ERROR_LINES = 10;

/** A client package in one version, and the program in `clients/integrations/compatible/clients` that uses it. */
export interface ClientProgram {
  readonly client: string;
  readonly version: string;
  /** `.ts` runs with Node, `.py` with Python. */
  readonly file: string;
  readonly args?: readonly string[];
  /** It only connects with TLS. */
  readonly needsTls?: boolean;
  /** Its API has no interim results. */
  readonly hasNoInterims?: boolean;
}

/** One thing to do. See `clients/integrations/compatible/clients/order.ts`. */
export interface ClientRun {
  readonly check: string;
  readonly apiKey: string;
  readonly model: string;
  readonly wav16k: string;
  readonly wav24k: string;
}

export interface ClientOutcome {
  readonly check: string;
  readonly text: string;
  readonly interims: number;
  readonly error: string | null;
}

type Printed = { readonly check: string; readonly speaking: true } | ClientOutcome;

/** Runs a client's program. `onSpeaking` is called with the check whose audio is on its way. */
export async function runClient(
  program: ClientProgram,
  input: {
    readonly baseUrl: string;
    /** Trusted besides the usual authorities. */
    readonly certFile: string;
    readonly runs: readonly ClientRun[];
    readonly onSpeaking?: (check: string) => void;
  },
): Promise<readonly ClientOutcome[]> {
  const { baseUrl, runs, onSpeaking } = input;
  const command = program.file.endsWith('.py') ? PYTHON : process.execPath;
  const order = JSON.stringify({ baseUrl, runs });
  const child = spawn(command, [join(CLIENTS, program.file), order, ...(program.args ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PYTHONDONTWRITEBYTECODE: '1',
      NODE_EXTRA_CA_CERTS: input.certFile,
    },
  });
  killOnExit(child);
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (errors.push(line) > ERROR_LINES) errors.shift();
  });
  const outcomes: ClientOutcome[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const printed: Printed = JSON.parse(line);
    if ('speaking' in printed) onSpeaking?.(printed.check);
    else outcomes.push(printed);
  });
  await once(child, 'close');
  if (outcomes.length === runs.length) return outcomes;
  throw new Error(`${program.client} ended early:\n${errors.join('\n')}`);
}
