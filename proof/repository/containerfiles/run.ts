import { execFile, type ExecFileOptions } from 'node:child_process';

/** Runs a program for at most four minutes. Returns what it printed, even if it failed. */
export function run(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<{ readonly failed: boolean; readonly output: string }> {
  return new Promise((done) => {
    const limits = { encoding: 'utf8', timeout: 240_000, maxBuffer: 64 * 1024 * 1024 } as const;
    execFile(program, args, { ...options, ...limits }, (error, stdout, stderr) => {
      done({ failed: error !== null, output: stdout + stderr });
    });
  });
}
