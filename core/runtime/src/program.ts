/** A setting of the environment. Null without one, or with an empty one. */
export function setting(name: string): string | null {
  return process.env[name]?.trim() || null;
}

/** Parses an option that may be repeated, each time with addresses separated by commas. */
export function addresses(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, ...value.split(',').map((address) => address.trim())];
}

/** The first signal stops the program in its own time. A second one exits at once. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let isStopping = false;
  const onSignal = (): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    void stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  watchLauncher(() => {
    if (!isStopping) onSignal();
  });
}

const LAUNCHER_LOOK_MS = 250;

/** npm, also as npx, passes a signal on to a shell, which ends and leaves its program running without it. */
function watchLauncher(onGone: () => void): void {
  if (process.env['npm_command'] === undefined) return;
  const launcher = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    onGone();
  }, LAUNCHER_LOOK_MS);
  timer.unref();
}

/** Ends a program that could not start. Commander has printed its own errors, which have an exit code, and the help. */
export function endWithError(error: unknown, name: string): void {
  if (error instanceof Error && 'exitCode' in error) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${name}: ${message}\nTry: ${name} --help\n`);
  process.exitCode = 2;
}
