#!/usr/bin/env node
import { EXIT } from './command.ts';
import { runCli } from './program.ts';

// A reader such as `head` may close the pipe early. That is not an error.
process.stdout.on('error', () => process.exit(0));
const { stdin, stdout, stderr, env } = process;
const interrupted = interruptSignal();
process.exitCode = await runCli(process.argv.slice(2), { stdin, stdout, stderr, env, interrupted });

/** Aborts at the first Ctrl-C. The second one ends the process. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => {
    controller.abort();
    process.once('SIGINT', () => process.exit(EXIT.interrupted));
  });
  return controller.signal;
}
