import { spawn, type ChildProcess } from 'node:child_process';

/** An account without rights, on every Linux. ffmpeg runs as it if this program is started by root. */
const NOBODY = 65_534;
const MEMORY_KIB = 768 * 1024;
const CPU_SECONDS = 900;
const OPEN_FILES = 64;
/** Sets the limits, then becomes ffmpeg. A file size of 0 lets it write to pipes only. */
const LIMITS = [
  `ulimit -v ${MEMORY_KIB}`,
  `ulimit -t ${CPU_SECONDS}`,
  `ulimit -n ${OPEN_FILES}`,
  'ulimit -f 0',
  'ulimit -c 0',
].join(' && ');

const isRoot: boolean = process.getuid?.() === 0;
/** The owner of files that ffmpeg reads. Null: this program's own account. */
export const sandboxUser: number | null = isRoot ? NOBODY : null;

/**
 * Starts ffmpeg with limits on memory, CPU time and files, without this program's environment and without root's rights.
 * `fd` is the file that it may open as /dev/fd/3.
 */
export function startSandboxed(input: {
  readonly program: string;
  readonly args: readonly string[];
  readonly fd: number | null;
}): ChildProcess {
  const script = `${LIMITS} || exit 126; exec "$@"`;
  return spawn('/bin/sh', ['-c', script, 'sh', input.program, ...input.args], {
    stdio: ['pipe', 'pipe', 'pipe', ...(input.fd === null ? [] : [input.fd])],
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    cwd: '/',
    ...(sandboxUser === null ? {} : { uid: sandboxUser, gid: sandboxUser }),
  });
}
