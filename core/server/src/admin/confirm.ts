import { createInterface } from 'node:readline/promises';
import { Problem } from './problem.ts';

/** Asks a person for one line. */
export type Ask = (question: string) => Promise<string>;

/** Reads answers from the terminal. Undefined: there is none, so nobody can answer. */
export function askOnTerminal(): Ask | undefined {
  if (!process.stdin.isTTY) return undefined;
  return async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  };
}

/** Throws unless `--yes` was given or a person answers "yes". */
export async function confirm(
  { ask }: { readonly ask?: Ask | undefined },
  input: { readonly question: string; readonly yes: boolean },
): Promise<void> {
  if (input.yes) return;
  if (ask === undefined) throw new Problem(`${input.question} Add --yes if this is what you want.`);
  const answer = await ask(`${input.question} Type yes to continue: `);
  if (answer.trim().toLowerCase() !== 'yes') throw new Problem('Nothing was changed.');
}
