import { execFile } from 'node:child_process';
import { join } from 'node:path';

const SVC = join(import.meta.dirname, '../../cli/src/main.ts');

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line, with no more of this process's environment than it is given. */
export function runSvc(
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; input?: Buffer | undefined },
): Promise<Result> {
  const { env, input } = options;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SVC, ...args], { env }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
    child.stdin?.end(input);
  });
}
