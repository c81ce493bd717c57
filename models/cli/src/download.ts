import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { get as getHttps } from 'node:https';
import { dirname } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Download } from './catalogue.ts';
import { Problem } from './problem.ts';

/** An attempt is aborted after this long without data. The next attempt resumes. */
const STALL_MS = 60_000;
const ATTEMPTS_MAX = 5;
const RETRY_MS = 1_000;
const REDIRECTS_MAX = 10;

export type Progress = (input: { name: string; bytes: number; total: number }) => void;

/**
 * Downloads to `path` unless it is there already, and returns the file's hash. An interrupted download is resumed where it
 * stopped, in this run or in the next. A file with another hash than the expected one is removed and refused.
 */
export async function download(
  remote: Download,
  path: string,
  options: {
    readonly onProgress?: Progress;
    readonly retryMs?: number;
    /** The hash of a file that has none in the catalogue, if it is known. */
    readonly sha256?: string | undefined;
  } = {},
): Promise<string> {
  const sizeIsKnown = remote.sha256 !== undefined;
  const sha256 = remote.sha256 ?? options.sha256;
  if (sha256 !== undefined && (await hashOf(path)) === sha256) return sha256;
  const part = `${path}.part`;
  await mkdir(dirname(path), { recursive: true });
  // Without its size, an old part can't be told from the whole file.
  if (!sizeIsKnown) await rm(part, { force: true });
  let isWhole = false;
  for (let attempt = 1; !isWhole; attempt += 1) {
    try {
      const left = remote.bytes - (await sizeOf(part));
      if (left > 0) await transfer(remote, part, options.onProgress ?? (() => {}));
      isWhole = !sizeIsKnown || (await sizeOf(part)) >= remote.bytes;
    } catch (error) {
      if (error instanceof Problem || attempt === ATTEMPTS_MAX) throw toProblem(remote, error);
      await after(options.retryMs ?? RETRY_MS * attempt);
    }
  }
  const actual = (await hashOf(part)) ?? '';
  if (sha256 !== undefined && actual !== sha256) {
    await rm(part);
    throw new Problem(
      `${remote.url} has sha256 ${actual}, expected is ${sha256}. ` +
        'The file was removed. Do not use it; report the difference.',
    );
  }
  await rename(part, path);
  return actual;
}

async function transfer(remote: Download, part: string, onProgress: Progress): Promise<void> {
  const have = await sizeOf(part);
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), STALL_MS);
  try {
    const headers = have > 0 ? { Range: `bytes=${have}-` } : {};
    const response = await request(remote.url, { headers, signal: stalled.signal });
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
        await file.write(chunk);
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
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status < 300) return;
  response.destroy();
  if (status >= 500) throw new Error(`HTTP ${status}`);
  throw new Problem(
    `${remote.url} answered ${status}. If the file has moved, correct a copy of the catalogue and name it with --catalogue.`,
  );
}

/**
 * Requests a file and follows redirects. `fetch` would end the process if the server closes the connection while the last
 * bytes still have to be written (nodejs/undici#5360).
 */
async function request(url: string, options: RequestOptions): Promise<IncomingMessage> {
  let address = new URL(url);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const get = address.protocol === 'http:' ? getHttp : getHttps;
      get(address, options, resolve).on('error', reject);
    });
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) return response;
    response.destroy();
    address = new URL(headers.location, address);
  }
  throw new Problem(`${url} redirects more than ${REDIRECTS_MAX} times.`);
}

function toProblem(remote: Download, error: unknown): Problem {
  if (error instanceof Problem) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Problem(`${remote.url} could not be downloaded (${reason}). Run it again to resume.`);
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.size ?? 0;
}

/** The sha256 of a file, or null when it cannot be read. */
export async function hashOf(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch {
    return null;
  }
  return hash.digest('hex');
}
