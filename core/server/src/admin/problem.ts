/** Exit statuses, the same for every command. */
export const EXIT = {
  done: 0,
  /** Refused or not found, or the audit found something. */
  refused: 1,
  /** The command line or the settings are wrong. */
  usage: 2,
  /** The database cannot be reached. Try again later. */
  unavailable: 3,
} as const;

/** Something an operator can act on: what happened, and what to do. */
export class Problem extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.refused) {
    super(message);
    this.exitCode = exitCode;
  }
}
