import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs the API's SQL statement with pgbench and the same number of clients. Returns pgbench's CPU seconds. */
export async function reserveByPgbench(input: {
  databaseUrl: string;
  /** SQL that turns the number :n into an account id. */
  accounts: number;
  accountIdSql: string;
  clients: number;
  reservations: number;
}): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'reserve-'));
  const script = join(folder, 'reserve.sql');
  await writeFile(
    script,
    `\\set n random(0, ${input.accounts - 1})
select row_to_json(reserve_session(${input.accountIdSql}, gen_random_uuid(), false, 'campaign0000',
  'svc-asr-kikuyu-v1', 60000, null, null, 'campaign', 'wss://campaign.example/v1/asr/stream')) as answer;
`,
  );
  const perClient = Math.ceil(input.reservations / input.clients);
  try {
    const { stdout } = await run(
      'bash',
      [
        '-c',
        'pgbench -n -M prepared -c "$2" -t "$3" -f "$4" "$1" >/dev/null && times',
        'bash',
        input.databaseUrl,
        String(input.clients),
        String(perClient),
        script,
      ],
      { env: { ...process.env, PGOPTIONS: '-c role=svc_api' } },
    );
    return childSeconds(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** `times` prints the shell's own line, then that of its children: `0m1.234s 0m0.567s`. */
function childSeconds(times: string): number {
  const [, line = ''] = times.trim().split('\n');
  let seconds = 0;
  for (const [, minutes, rest] of line.matchAll(/(\d+)m([\d.]+)s/g)) {
    seconds += Number(minutes) * 60 + Number(rest);
  }
  return seconds;
}
