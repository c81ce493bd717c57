import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { get as getHttps } from 'node:https';
import { dirname } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { Problem } from './problem.ts';
import { inMegabytes } from './terminal.ts';

/** An attempt is aborted after this long without data. The next attempt resumes. */
const STALL_MS = 60_000;
const ATTEMPTS_MAX = 5;
const RETRY_MS = 1_000;
const REDIRECTS_MAX = 10;
export const SHA256 = /^[0-9a-f]{64}$/;

export interface Download {
  readonly url: string;
  /** The exact size; without a hash, the most that is accepted. */
  readonly bytes: number;
  /** Left out where nobody could compute it. `fetch` then asks for it, or pins that of the first download. */
  readonly sha256?: string;
  /** Git's own hash of a file, which a hub tells instead if the file is small. */
  readonly git_sha1?: string;
}

export type Progress = (input: { name: string; bytes: number; total: number }) => void;

export interface DownloadOptions {
  readonly onProgress?: Progress;
  readonly retryMs?: number;
  /** The hash of a file that has none in the catalogue, if it is known. */
  readonly sha256?: string | undefined;
  /** Sent to the server that is asked first, never to one that it redirects to. */
  readonly token?: string | undefined;
}

/**
 * Downloads to `path` unless it is there already, and returns the file's hash. An interrupted download is resumed where it
 * stopped, in this run or in the next. A file with another hash than the expected one is removed and refused.
 */
export async function download(
  remote: Download,
  path: string,
  options: DownloadOptions = {},
): Promise<string> {
  const sizeIsKnown = remote.sha256 !== undefined || remote.git_sha1 !== undefined;
  const sha256 = remote.sha256 ?? options.sha256;
  const expected = sha256 ?? remote.git_sha1;
  const hash = sha256 === undefined && expected !== undefined ? gitHashOf : hashOf;
  if (expected !== undefined && (await hash(path)) === expected) return expected;
  const part = `${path}.part`;
  await mkdir(dirname(path), { recursive: true });
  // Without its size, an old part can't be told from the whole file.
  if (!sizeIsKnown) await rm(part, { force: true });
  let isWhole = false;
  for (let attempt = 1; !isWhole; attempt += 1) {
    try {
      const have = await sizeOf(part);
      if (have < remote.bytes) await transfer(remote, part, options);
      const got = await sizeOf(part);
      isWhole = !sizeIsKnown || got >= remote.bytes || isLocal(remote);
      if (!isWhole) throw new Error(`it ended after ${got} of ${remote.bytes} bytes`);
    } catch (error) {
      if (isFinal(error) || attempt === ATTEMPTS_MAX) throw toProblem(remote, error);
      await after(options.retryMs ?? RETRY_MS * attempt);
    }
  }
  const actual = (await hash(part)) ?? '';
  if (expected !== undefined && actual !== expected) {
    await rm(part);
    throw new Problem(
      `${remote.url} has ${sha256 === undefined ? "Git's hash" : 'sha256'} ${actual}, expected is ${expected}. ` +
        'The file was removed. Do not use it; report the difference.',
    );
  }
  await rename(part, path);
  return actual;
}

async function transfer(remote: Download, part: string, options: DownloadOptions): Promise<void> {
  if (isLocal(remote)) return copyFile(new URL(remote.url), part);
  const { token, onProgress = () => {} } = options;
  const have = await sizeOf(part);
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), STALL_MS);
  try {
    const headers = have > 0 ? { Range: `bytes=${have}-` } : {};
    const response = await request(remote.url, { headers, signal: stalled.signal, token });
    refuseFailure(remote, response);
    // A server without range support sends everything again.
    const resumed = response.statusCode === 206;
    const file = await open(part, resumed ? 'a' : 'w');
    let bytes = resumed ? have : 0;
    try {
      for await (const chunk of response) {
        timer.refresh();
        bytes += chunk.length;
        if (bytes > remote.bytes) {
          throw new Problem(`${remote.url} is longer than ${remote.bytes} bytes.`);
        }
        await file.writeFile(chunk);
        onProgress({ name: remote.url.split('/').at(-1) ?? '', bytes, total: remote.bytes });
      }
    } finally {
      await file.close();
    }
  } finally {
    clearTimeout(timer);
  }
}

function refuseFailure(remote: Download, response: IncomingMessage): void {
  const { statusCode: status = 0, headers } = response;
  const isPage = headers['content-type']?.startsWith('text/html') === true;
  if (status >= 200 && status < 300 && !isPage) return;
  response.destroy();
  if (isPage && status < 300) {
    throw new Problem(
      `${remote.url} answered with a web page instead of the file. Is a proxy or a sign-in page in between?`,
    );
  }
  if (status >= 500 || status === 429) throw new Error(`HTTP ${status}`);
  throw new Problem(
    `${remote.url} answered ${status}. ${adviceFor(status, headers['x-error-code'])}`,
  );
}

/** What a hub means by its status and error code. */
export function adviceFor(status: number, code: string | string[] | undefined): string {
  if (code === 'GatedRepo' && status === 403) {
    return 'Its author has to let you in: open its page, accept the conditions, and run it again once access is granted.';
  }
  if (code === 'GatedRepo') {
    return 'Access needs an account: accept the conditions on its page, then set HF_TOKEN to a token of that account.';
  }
  if (code === 'RevisionNotFound') return 'It has no such branch, tag or commit.';
  if (status === 401 || status === 403) {
    return 'It does not exist, or it is private: check the name, and set HF_TOKEN if it is yours.';
  }
  return 'If it has moved, correct the address, or a copy of the catalogue that you name with --catalogue.';
}

/**
 * Requests a file and follows redirects, but never from https to http. `fetch` would end the process if the server closes
 * the connection while the last bytes still have to be written (nodejs/undici#5360).
 */
export async function request(
  url: string,
  options: {
    readonly signal: AbortSignal;
    readonly headers?: OutgoingHttpHeaders;
    readonly token?: string | undefined;
  },
): Promise<IncomingMessage> {
  const { token, ...others } = options;
  const first = new URL(url);
  let address = first;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const isFirst = token !== undefined && address.origin === first.origin;
    const headers = { ...others.headers, ...(isFirst ? { Authorization: `Bearer ${token}` } : {}) };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const get = address.protocol === 'http:' ? getHttp : getHttps;
      get(address, { ...others, headers }, resolve).on('error', reject);
    });
    const { statusCode = 0, headers: answered } = response;
    if (statusCode < 300 || statusCode >= 400 || answered.location === undefined) return response;
    response.destroy();
    const next = new URL(answered.location, address);
    if (address.protocol === 'https:' && next.protocol !== 'https:') {
      throw new Problem(`${url} redirects from https to ${next.protocol}//${next.host}: refused.`);
    }
    address = next;
  }
  throw new Problem(`${url} redirects more than ${REDIRECTS_MAX} times.`);
}

function isLocal(remote: Download): boolean {
  return remote.url.startsWith('file:');
}

/** No retry helps against a refusal or a full disk. */
function isFinal(error: unknown): boolean {
  return error instanceof Problem || isDiskFull(error);
}

function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function toProblem(remote: Download, error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDiskFull(error)) {
    return new Problem(
      `The disk is full: no room for ${remote.url} (${inMegabytes(remote.bytes)}). Free some, then run it again to resume.`,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new Problem(`${remote.url} could not be downloaded (${reason}). Run it again to resume.`);
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.size ?? 0;
}

/** The sha256 of a file, or null when it cannot be read. */
export async function hashOf(path: string): Promise<string | null> {
  return digest(createHash('sha256'), path);
}

/** The hash under which Git stores a file, which a hub tells of small files. */
async function gitHashOf(path: string): Promise<string | null> {
  return digest(createHash('sha1').update(`blob ${await sizeOf(path)}\0`), path);
}

async function digest(hash: Hash, path: string): Promise<string | null> {
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch {
    return null;
  }
  return hash.digest('hex');
}
