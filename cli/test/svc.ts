import { execFile, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

const SVC = join(import.meta.dirname, '../src/main.ts');

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** An environment in which the CLI uses this service and has no settings of its own. */
export function envOf({ url, apiKey }: { url: string; apiKey: string }): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    SVC_CONFIG: '/none.json',
    SVC_BASE_URL: url,
    SVC_API_KEY: apiKey,
  };
}

/** Runs the CLI with only the given environment. `onStart` gets the process, to send it signals. */
export function runSvc(
  args: readonly string[],
  options: {
    env: NodeJS.ProcessEnv;
    input?: Buffer | undefined;
    cwd?: string | undefined;
    onStart?: ((child: ChildProcess) => void) | undefined;
  },
): Promise<Result> {
  const { env, input, cwd, onStart } = options;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SVC, ...args], { env, cwd }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
    child.stdin?.end(input);
    onStart?.(child);
  });
}
