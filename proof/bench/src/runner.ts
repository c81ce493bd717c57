import { readdir } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Campaign } from './campaign.ts';

/** Exit status: 0 goal met, 1 goal missed, 2 could not run. */
export async function runCampaign(folder: URL, argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  const names = await campaignNames(folder);
  if (name === undefined || !names.includes(name)) {
    await printList(folder, names);
    return 2;
  }
  const campaign = await load(folder, name);
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

async function campaignNames(folder: URL): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .toSorted();
}

function load(folder: URL, name: string): Promise<Campaign> {
  return import(new URL(`${name}.ts`, folder).href);
}

async function printList(folder: URL, names: readonly string[]): Promise<void> {
  console.error('Usage: npm run bench|prove -- NAME [--short]\n');
  for (const name of names) {
    const { about } = await load(folder, name);
    console.error(`  ${name.padEnd(18)} ${about}`);
  }
}

// Campaigns measure memory and need gc(). Setting the flag here avoids it on every command line. It applies to contexts
// created later, so the function is taken from a new context.
setFlagsFromString('--expose-gc');
globalThis.gc = runInNewContext('gc');

// Let a campaign stop everything it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2));
