import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Campaign } from '../campaign.ts';
import { startThrowAwayService } from '../throw-away-service.ts';

const CASES = { full: 50_000, short: 100 };
/** Schemathesis remembers what it has tried and slows down with it: many rounds, each with a seed of its own. */
const ROUND_EXAMPLES = { full: 1500, short: 60 };
const ROUNDS_AT_ONCE = 2;
const ROOT = resolve(import.meta.dirname, '../../..');
const SCHEMATHESIS = join(ROOT, '.cache/schemathesis/bin/schemathesis');

/** What we read of Schemathesis' own report. */
interface Report {
  readonly test_cases: {
    readonly generated: number;
    readonly with_failures: number;
    readonly errored: number;
  };
  readonly complete: boolean;
}

/** Requests made from the served OpenAPI document, right and wrong ones; every answer is held to the document. */
export const campaign: Campaign = {
  about: '50,000 requests made from the served OpenAPI: no 5xx, every answer as documented',
  async run({ short, log }) {
    if (!existsSync(SCHEMATHESIS)) throw new Error('Schemathesis is missing: bash .ci/bootstrap');
    const service = await startThrowAwayService({ processes: 1 });
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
  },
};

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
      env: { ...process.env, SCHEMATHESIS_HOOKS: join(ROOT, 'bench/src/http-fuzz/hooks.py') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => log(text.trimEnd()));
    }
    child.on('error', reject);
    // Its exit status says whether it found something; the report says what.
    child.on('exit', () => done());
  });
}
