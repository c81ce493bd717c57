import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';

/** An account without rights, on every Linux. ffmpeg runs as it if this program is started by root. */
const NOBODY = 65_534;
/** What ffmpeg may allocate. Libraries that it maps don't count, but its address space has a limit too. */
export const DECODER_MEMORY_MIB = 160;
const ADDRESS_SPACE_MIB = 512;
const CPU_SECONDS = 900;
const OPEN_FILES = 64;
/**
 * Sets the limits, then becomes ffmpeg. A file size of 0 lets it write to pipes only. If memory runs out, the kernel ends
 * ffmpeg before this program.
 */
const LIMITS = [
  '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; true',
  `ulimit -v ${ADDRESS_SPACE_MIB * 1024}`,
  `ulimit -d ${DECODER_MEMORY_MIB * 1024}`,
  `ulimit -t ${CPU_SECONDS}`,
  `ulimit -n ${OPEN_FILES}`,
  'ulimit -f 0',
  'ulimit -c 0',
].join(' && ');
/** A network of its own, with nothing in it. */
const WITHOUT_NETWORK = ['unshare', '--user', '--map-current-user', '--net', '--'];

const isRoot: boolean = process.getuid?.() === 0;
/** The owner of files that ffmpeg reads. Null: this program's own account. */
export const sandboxUser: number | null = isRoot ? NOBODY : null;
const AS_USER = sandboxUser === null ? {} : { uid: sandboxUser, gid: sandboxUser };

let isIsolated: boolean | null = null;
const STARTS_WITHIN_MS = 10_000;
export const FFMPEG_MISSING =
  'ffmpeg cannot be started, so files and compressed audio are refused. Install it, or name it with --ffmpeg.';

/** Whether this program's decoders can run. */
export async function canStart(ffmpeg: string): Promise<boolean> {
  const options = { ...AS_USER, cwd: '/', timeout: STARTS_WITHIN_MS };
  return promisify(execFile)(ffmpeg, ['-version'], options).then(
    () => true,
    () => false,
  );
}

/** Whether ffmpeg runs without a network here. Most containers, and some kernels, don't let a process give it up. */
export function isNetworkIsolated(): boolean {
  const [command = '', ...options] = WITHOUT_NETWORK;
  isIsolated ??= spawnSync(command, [...options, 'true'], { ...AS_USER, cwd: '/' }).status === 0;
  return isIsolated;
}

/**
 * Starts ffmpeg with limits on memory, CPU time and files, without this program's environment, without root's rights and,
 * where the system allows it, without a network. `fd` is the file that it may open as /dev/fd/3.
 */
export function startSandboxed(input: {
  readonly program: string;
  readonly args: readonly string[];
  readonly fd: number | null;
}): ChildProcess {
  const script = `${LIMITS} || exit 126; exec "$@"`;
  const isolation = isNetworkIsolated() ? WITHOUT_NETWORK : [];
  const command = [...isolation, input.program, ...input.args];
  return spawn('/bin/sh', ['-c', script, 'sh', ...command], {
    stdio: ['pipe', 'pipe', 'pipe', ...(input.fd === null ? [] : [input.fd])],
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    cwd: '/',
    ...AS_USER,
  });
}
