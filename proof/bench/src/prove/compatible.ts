import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import {
  checkClient,
  checkRestart,
  type Checked,
  type ClientRow,
} from '../compatible/client-checks.ts';
import type { ClientProgram } from '../compatible/client-program.ts';
import { writeResults } from '../compatible/client-results.ts';
import { CLIENTS, SHORT_CLIENTS } from '../compatible/clients.ts';
import { CompatibleFleet } from '../compatible/compatible-fleet.ts';
import { checkFilePart } from '../compatible/file-part.ts';

export const about =
  "other services' clients against svc-compatible: transcripts, refusals, a node's restart, files";

const AT_ONCE = 3;
/** As an argument: only the file part. Other arguments are clients. */
const FILES = 'files';
/** As an argument: keeps the results for the documentation. */
const WRITE = '--write';

export async function run({ short, args: words, log }: CampaignOptions): Promise<CampaignResult> {
  const args = words.filter((word) => word !== WRITE);
  const all = short ? SHORT_CLIENTS : CLIENTS;
  const clients = all.filter(({ file }) => args.length === 0 || args.includes(file));
  const folder = await mkdtemp(join(tmpdir(), 'compatible-'));
  const service = await CompatibleFleet.start();
  const rows = new Map<ClientProgram, ClientRow>();
  const add = (program: ClientProgram, { checks, outcomes }: Checked): void => {
    const { client, version } = program;
    rows.set(program, { client, version, checks: { ...rows.get(program)?.checks, ...checks } });
    log(`${client} ${version}: ${JSON.stringify(checks)}`);
    for (const outcome of outcomes) log(`  ${JSON.stringify(outcome)}`);
  };
  let files: CampaignResult = { passed: true, figures: {} };
  try {
    const context = { service, folder };
    await mapConcurrently(clients, AT_ONCE, async (client) => {
      add(client, await checkClient(client, context));
    });
    // Each restart takes seconds, so the short form has one.
    for (const client of clients.slice(0, short ? 1 : clients.length)) {
      add(client, await checkRestart(client, context));
    }
    if (args.length === 0 || args.includes(FILES)) {
      files = await checkFilePart(context, { short, log });
    }
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
  if (words.includes(WRITE)) await writeResults([...rows.values()]);
  const checked = [...rows.values()].map(({ checks }) => checks);
  const failed = checked.flatMap((checks) => Object.values(checks).filter((each) => each === 'no'));
  const texts = checked.flatMap(({ kikuyu, dholuo, restart }) => [kikuyu, dholuo, restart]);
  return {
    passed: failed.length === 0 && rows.size === clients.length && files.passed,
    figures: {
      clients: rows.size,
      transcripts: texts.filter((each) => each === 'yes').length,
      failed: failed.length,
      ...files.figures,
    },
  };
}
