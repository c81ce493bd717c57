import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join, relative } from 'node:path';
import { listen } from '@svc-asr/runtime/listen.ts';

/**
 * A model hub with the protocol of huggingface.co, as a process of its own:
 *
 *   node core/models/cli/test/local-hub.ts '{"repositories":{"someone/model":{"commits":{"COMMIT":"FOLDER"},"branches":{"main":"COMMIT"}}}}'
 *
 * It prints its address. Large files are redirected to a second server, as to a content network. PUT /control changes what it
 * serves; GET /control lists the requests. With CERT_FILE and KEY_FILE the first server speaks https.
 */
export interface HubState {
  readonly repositories: Readonly<Record<string, LocalRepository>>;
  /** Breaks the connection of the next large file at this share of it. */
  readonly cutAt?: number;
  /** Answers for this file with a web page. */
  readonly page?: string;
  /** Sends other bytes than those whose hash it tells. */
  readonly changed?: string;
}

export interface LocalRepository {
  /** Folders by commit. */
  readonly commits: Readonly<Record<string, string>>;
  readonly branches: Readonly<Record<string, string>>;
  readonly cardData?: object;
  readonly modelIndex?: object;
  readonly gated?: 'auto' | 'manual';
  /** Tokens of accounts that were let in. */
  readonly letIn?: readonly string[];
  /** Entries that its list has besides the folder's files. */
  readonly listed?: readonly object[];
}

export interface HubRequest {
  readonly server: 'hub' | 'network';
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

const LARGE_BYTES = 100_000;
let state: HubState = JSON.parse(process.argv[2] ?? '{"repositories":{}}');
let requests: HubRequest[] = [];
const hashes = new Map<string, { sha256: string; git: string }>();

async function hashesOf(file: string): Promise<{ sha256: string; git: string }> {
  const known = hashes.get(file);
  if (known !== undefined) return known;
  const { size } = await stat(file);
  const sha256 = createHash('sha256');
  const git = createHash('sha1').update(`blob ${size}\0`);
  for await (const chunk of createReadStream(file)) {
    sha256.update(chunk);
    git.update(chunk);
  }
  const found = { sha256: sha256.digest('hex'), git: git.digest('hex') };
  hashes.set(file, found);
  return found;
}

async function treeOf(folder: string): Promise<object[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async (entry) => {
      const file = join(entry.parentPath, entry.name);
      const { size } = await stat(file);
      const { sha256, git } = await hashesOf(file);
      const lfs = size < LARGE_BYTES ? {} : { lfs: { oid: sha256, size, pointerSize: 134 } };
      return { type: 'file', path: relative(folder, file), size, oid: git, ...lfs };
    }),
  );
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'x-error-code': code, 'content-type': 'application/json' }).end();
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  file: string,
): Promise<void> {
  const { size } = await stat(file);
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (from >= size && size > 0) return void response.writeHead(416).end();
  const isChanged = state.changed !== undefined && file.endsWith(state.changed);
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': size - from });
  const end = state.cutAt === undefined ? Infinity : Math.floor(size * state.cutAt);
  const { cutAt: _, ...later } = state;
  if (Number.isFinite(end)) state = later;
  const closed = once(response, 'close');
  let at = from;
  for await (const chunk of createReadStream(file, { start: from })) {
    const part: Buffer = chunk.subarray(0, Math.max(0, end - at));
    if (isChanged) part.fill(0);
    at += part.length;
    if (!response.write(part)) await Promise.race([once(response, 'drain'), closed]);
    if (response.destroyed) return;
    if (at >= end) {
      // After everything that was written has left.
      return void response.write('', () => request.socket.destroySoon());
    }
  }
  response.end();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = decodeURIComponent(new URL(request.url ?? '', 'http://hub').pathname);
  if (path === '/control') return control(request, response);
  const { authorization, range } = request.headers;
  requests.push({ server: 'hub', path, range, authorization });
  const [, api, owner, name, kind, revision = '', file = ''] =
    /^(\/api\/models)?\/([^/]+)\/([^/]+)\/(revision|tree|resolve)\/([^/]+)(?:\/(.*))?$/.exec(
      path,
    ) ?? [];
  const repository = state.repositories[`${owner}/${name}`];
  if (repository === undefined) return refuse(response, 401, 'RepoNotFound');
  const commit = repository.branches[revision] ?? revision;
  const folder = repository.commits[commit];
  if (folder === undefined) return refuse(response, 404, 'RevisionNotFound');
  const { cardData = {}, gated = false, letIn = [] } = repository;
  if (api !== undefined && kind === 'revision') {
    const index =
      repository.modelIndex === undefined ? {} : { 'model-index': repository.modelIndex };
    return json(response, { id: `${owner}/${name}`, sha: commit, gated, cardData, ...index });
  }
  if (api !== undefined) {
    return json(response, [...(await treeOf(folder)), ...(repository.listed ?? [])]);
  }
  if (gated !== false && !letIn.some((token) => authorization === `Bearer ${token}`)) {
    return refuse(response, authorization === undefined ? 401 : 403, 'GatedRepo');
  }
  if (state.page === file) {
    return void response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<html>Sign in</html>');
  }
  const { size } = await stat(join(folder, file));
  if (size < LARGE_BYTES) return send(request, response, join(folder, file));
  const location = `${network}/${encodeURIComponent(join(folder, file))}`;
  response.writeHead(302, { location }).end();
}

async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'PUT') {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    state = JSON.parse(Buffer.concat(chunks).toString());
    requests = [];
  }
  json(response, requests);
}

/** Without an answer, clients would wait. */
function guarded(handle: typeof answer) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    void handle(request, response).catch(() => response.destroy());
  };
}

const files = createServer(
  guarded(async (request, response) => {
    const { authorization, range } = request.headers;
    const file = decodeURIComponent((request.url ?? '').slice(1));
    requests.push({ server: 'network', path: file, range, authorization });
    await send(request, response, file);
  }),
);
const network = `http://127.0.0.1:${await listen(files)}`;
const { CERT_FILE: certFile, KEY_FILE: keyFile } = process.env;
const isTls = certFile !== undefined && keyFile !== undefined;
const hub = isTls
  ? createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, guarded(answer))
  : createServer(guarded(answer));
console.log(`${isTls ? 'https' : 'http'}://127.0.0.1:${await listen(hub)}`);
