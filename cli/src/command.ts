import type { ParseArgsOptionsConfig } from 'node:util';
import type { Terminal } from './terminal.ts';

/** What a command gets: its words, its options, and the world outside. */
export interface Invocation {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by the first Ctrl-C; the second ends the process. */
  readonly interrupted: AbortSignal;
}

export interface Command {
  readonly about: string;
  readonly help: string;
  readonly options: ParseArgsOptionsConfig;
  /** Whether words follow the command. To the others a word too many is a mistake. */
  readonly takesFiles?: true;
  run(invocation: Invocation): Promise<ExitCode>;
}

/** Documented in `svc --help`; scripts rely on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  noCredit: 4,
  unavailable: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The caller wrote something that cannot be meant. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export function text(invocation: Invocation, name: string): string | undefined {
  const value = invocation.options[name];
  return typeof value === 'string' ? value : undefined;
}

export function flag(invocation: Invocation, name: string): boolean {
  return invocation.options[name] === true;
}
