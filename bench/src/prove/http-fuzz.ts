import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Campaign } from '../campaign.ts';
import { startThrowAwayService } from '../throw-away-service.ts';

const SIZE = { full: 60_000, short: 60 };
const CASES_MIN = { full: 50_000, short: 100 };
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
      const report = join(folder, 'report.json');
      const examples = short ? SIZE.short : SIZE.full;
      const args = [
        'run',
        `${url}/openapi.json`,
        '--workers=2',
        '--continue-on-failure',
        '--no-shrink',
        `--header=Authorization: Bearer ${tenant.apiKey}`,
        `--max-examples=${examples}`,
        '--phases=examples,coverage,fuzzing',
        '--report=json',
        `--report-json-path=${report}`,
      ];
      await runSchemathesis(args, { folder, log });
      const { test_cases, complete }: Report = JSON.parse(await readFile(report, 'utf8'));
      const serverErrors = await service.countAnswers((status) => status >= 500);
      const requests = await service.countAnswers(() => true);
      const created = await service.countAnswers((status) => status === 201);
      const failures = test_cases.with_failures + test_cases.errored;
      const enough = test_cases.generated >= (short ? CASES_MIN.short : CASES_MIN.full);
      return {
        passed: complete && enough && failures === 0 && serverErrors === 0 && created > 0,
        figures: {
          cases: test_cases.generated,
          requests,
          created,
          failures,
          server_errors: serverErrors,
        },
      };
    } finally {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

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
