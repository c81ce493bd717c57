import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { startTemporaryService } from '../../temporary-service.ts';

const CASES = { full: 50_000, short: 100 };
/** Schemathesis slows down as it remembers earlier cases, so we run many rounds with different seeds. */
const ROUND_EXAMPLES = { full: 1500, short: 60 };
const ROUNDS_AT_ONCE = 2;
const ROOT = resolve(import.meta.dirname, '../../../../..');
const SCHEMATHESIS = join(ROOT, '.cache/schemathesis/bin/schemathesis');

/** The part of Schemathesis' report that we read. */
interface Report {
  readonly test_cases: {
    readonly generated: number;
    readonly with_failures: number;
    readonly errored: number;
  };
  readonly complete: boolean;
}

/** Sends valid and invalid requests generated from the OpenAPI document and checks every response against it. */
export const about =
  '50,000 requests generated from the OpenAPI document: every response is documented';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  if (!existsSync(SCHEMATHESIS))
    throw new Error('Schemathesis is not installed. Run bash .ci/bootstrap.');
  const service = await startTemporaryService({ processes: 1 });
  const folder = await mkdtemp(join(tmpdir(), 'http-fuzz-'));
  try {
    const [tenant] = await service.addTenants(1, { concurrency: 10_000 });
    const [url] = service.urls;
    if (tenant === undefined || url === undefined) throw new Error('Nothing to fuzz.');
    const size = short ? 'short' : 'full';
    const total = { cases: 0, failures: 0, unfinished: 0 };
    let seed = 0;
    while (total.cases < CASES[size]) {
      const rounds = await Promise.all(
        Array.from({ length: short ? 1 : ROUNDS_AT_ONCE }, () => {
          seed += 1;
          const report = join(folder, `${seed}.json`);
          return fuzzRound({
            url,
            apiKey: tenant.apiKey,
            seed,
            report,
            examples: ROUND_EXAMPLES[size],
            log,
          });
        }),
      );
      for (const { test_cases, complete } of rounds) {
        total.cases += test_cases.generated;
        total.failures += test_cases.with_failures + test_cases.errored;
        total.unfinished += complete ? 0 : 1;
      }
      log(`${total.cases} of ${CASES[size]} cases, ${total.failures} failures`);
      if (total.unfinished > 0) break;
    }
    const serverErrors = await service.countAnswers((status) => status >= 500);
    const requests = await service.countAnswers(() => true);
    const created = await service.countAnswers((status) => status === 201);
    return {
      passed: total.failures + total.unfinished + serverErrors === 0 && created > 0,
      figures: { ...total, requests, created, server_errors: serverErrors },
    };
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function fuzzRound(round: {
  url: string;
  apiKey: string;
  seed: number;
  examples: number;
  report: string;
  log: (line: string) => void;
}): Promise<Report> {
  await runSchemathesis(
    [
      'run',
      `${round.url}/openapi.json`,
      // Not an HTTP exchange: `npm run prove -- ws-fuzz` covers it.
      '--exclude-path=/v1/asr/stream',
      '--continue-on-failure',
      '--no-shrink',
      '--generation-database=none',
      `--header=Authorization: Bearer ${round.apiKey}`,
      `--seed=${round.seed}`,
      `--max-examples=${round.examples}`,
      '--phases=examples,coverage,fuzzing',
      '--report=json',
      `--report-json-path=${round.report}`,
    ],
    { folder: dirname(round.report), log: round.log },
  );
  return JSON.parse(await readFile(round.report, 'utf8'));
}

function runSchemathesis(
  args: readonly string[],
  { folder, log }: { folder: string; log: (line: string) => void },
): Promise<void> {
  return new Promise((done, reject) => {
    const child = spawn(SCHEMATHESIS, args, {
      cwd: folder,
      env: { ...process.env, SCHEMATHESIS_HOOKS: join(ROOT, 'proof/bench/src/http-fuzz/hooks.py') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => log(text.trimEnd()));
    }
    child.on('error', reject);
    // The exit status says whether there are failures. The report lists them.
    child.on('exit', () => done());
  });
}
