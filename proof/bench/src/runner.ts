import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Campaign } from './campaign.ts';

/** Exit status: 0 goal met, 1 goal missed, 2 could not run. */
export async function runCampaign(folder: URL, argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  const files = await campaignFiles(folder);
  const file = name === undefined ? undefined : files.get(name);
  if (file === undefined) {
    await printList(files);
    return 2;
  }
  const campaign: Campaign = await import(file);
  try {
    const result = await campaign.run({
      short: rest.includes('--short'),
      args: rest.filter((word) => word !== '--short'),
      log: (line) => console.error(line),
    });
    console.log(JSON.stringify({ name, passed: result.passed, figures: result.figures }));
    return result.passed ? 0 : 1;
  } catch (error) {
    console.error(error);
    console.log(JSON.stringify({ name, passed: false, figures: {} }));
    return 2;
  }
}

/** The file of each campaign, by its name. Rooms inside the folder don't count. */
async function campaignFiles(folder: URL): Promise<Map<string, string>> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const sorted = files.toSorted((one, other) => basename(one).localeCompare(basename(other)));
  return new Map(sorted.map((file) => [basename(file, '.ts'), new URL(file, folder).href]));
}

async function printList(files: ReadonlyMap<string, string>): Promise<void> {
  console.error('Usage: npm run bench|prove -- NAME [--short]\n');
  for (const [name, file] of files) {
    const { about }: Campaign = await import(file);
    console.error(`  ${name.padEnd(18)} ${about}`);
  }
}

// Campaigns measure memory and need gc(). Setting the flag here avoids it on every command line. It applies to contexts
// created later, so the function is taken from a new context.
setFlagsFromString('--expose-gc');
globalThis.gc = runInNewContext('gc');

// Let a campaign stop everything it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2));
