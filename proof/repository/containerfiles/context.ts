import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import dockerignore from '@balena/dockerignore';

/** The files of `folder` that a build sees on a fresh clone, as paths below `folder`. */
export function contextFiles(folder: string): string[] {
  const options = ['--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', ['ls-files', ...options], { cwd: folder })
    .toString()
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(folder, file)));
  const ignoreFile = join(folder, '.dockerignore');
  if (!existsSync(ignoreFile)) return files;
  const lines = readFileSync(ignoreFile, 'utf8').split('\n');
  const ignore = dockerignore.default({ ignorecase: false }).add(lines);
  const exceptions = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  // Docker looks into every folder. Podman looks into an ignored one only if an exception starts with its name.
  const isEntered = (path: string): boolean =>
    path === '.' ||
    (isEntered(dirname(path)) &&
      (!ignore.ignores(path) || exceptions.some((line) => `${line}/`.startsWith(`${path}/`))));
  return files.filter((file) => isEntered(dirname(file)) && !ignore.ignores(file));
}
