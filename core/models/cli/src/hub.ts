import type { IncomingMessage } from 'node:http';
import { adviceFor, request, SHA256, type Download } from './download.ts';
import { Problem } from './problem.ts';

/** hf:OWNER/NAME, or hf:OWNER/NAME@REVISION with a branch, tag or commit. */
const ADDRESS =
  /^hf:([A-Za-z0-9][\w.-]{0,95})\/([A-Za-z0-9][\w.-]{0,95})(?:@([A-Za-z0-9][\w./-]{0,127}))?$/;
const SHA1 = /^[0-9a-f]{40}$/;
const ANSWER_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 8_000_000;
/** The hub lists this many files in one answer. */
const FILES_MAX = 1_000;
const FIGURES_MAX = 6;

/** One file of a repository, with the hash that the hub tells of it. */
export interface HubFile extends Download {
  readonly path: string;
}

/** A model repository at one commit. */
export interface HubRepository {
  /** OWNER/NAME. */
  readonly id: string;
  readonly commit: string;
  readonly page: string;
  /** As the card states it, or null. */
  readonly licence: string | null;
  /** Whether its author has to let people in. */
  readonly isGated: boolean;
  readonly languages: readonly string[];
  /** Error rates of the card. */
  readonly published: readonly string[];
  readonly files: readonly HubFile[];
}

/** A hub that speaks the protocol of huggingface.co. */
export class Hub {
  readonly #token: string | undefined;
  readonly #endpoint: string;

  constructor(env: Readonly<Record<string, string | undefined>> = process.env) {
    this.#endpoint = (env['HF_ENDPOINT'] || 'https://huggingface.co').replace(/\/$/, '');
    this.#token = env['HF_TOKEN'] || undefined;
    const { protocol, hostname } = URL.canParse(this.#endpoint)
      ? new URL(this.#endpoint)
      : { protocol: '', hostname: '' };
    if (!/^https?:$/.test(protocol)) throw new Problem('HF_ENDPOINT must be an http or https URL.');
    const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
    if (this.#token !== undefined && protocol === 'http:' && !isHere) {
      throw new Problem('HF_TOKEN is only sent over https. Change HF_ENDPOINT, or unset HF_TOKEN.');
    }
  }

  get hasToken(): boolean {
    return this.#token !== undefined;
  }

  /** The token for an address of this hub; undefined for others. */
  tokenFor(url: string): string | undefined {
    return url.startsWith(`${this.#endpoint}/`) ? this.#token : undefined;
  }

  static isAddress(name: string): boolean {
    return name.startsWith('hf:');
  }

  /** Looks a repository up and pins its commit, from which all files come even if the branch moves on. */
  async describe(address: string): Promise<HubRepository> {
    const [, owner, name, revision = 'main'] = ADDRESS.exec(address) ?? [];
    if (owner === undefined || name === undefined) {
      throw new Problem(
        `${address} is not an address. Use hf:OWNER/NAME or hf:OWNER/NAME@REVISION.`,
      );
    }
    const id = `${owner}/${name}`;
    const api = `${this.#endpoint}/api/models/${id}`;
    const info = await this.#json(address, `${api}/revision/${encodeURIComponent(revision)}`);
    const commit = textOf(at(info, 'sha'));
    if (!SHA1.test(commit)) throw new Problem(`${address}: the hub names no commit.`);
    const tree = await this.#json(address, `${api}/tree/${commit}?recursive=true`);
    const card = at(info, 'cardData');
    const licence = textOf(at(card, 'license'));
    return {
      id,
      commit,
      page: `${this.#endpoint}/${id}`,
      licence:
        (licence === 'other' ? textOf(at(card, 'license_name')) || licence : licence) || null,
      isGated: at(info, 'gated') !== undefined && at(info, 'gated') !== false,
      languages: [at(card, 'language')].flat().map(textOf).filter(Boolean),
      published: figuresOf(at(info, 'model-index') ?? at(card, 'model-index')),
      files: this.#files(address, tree, `${this.#endpoint}/${id}/resolve/${commit}`),
    };
  }

  /** Reads a small text file of a repository. */
  async read(file: HubFile): Promise<string> {
    const response = await request(file.url, this.#limits());
    return bodyOf(file.url, response);
  }

  #files(address: string, tree: unknown, base: string): HubFile[] {
    if (!Array.isArray(tree)) throw new Problem(`${address}: the hub lists no files.`);
    if (tree.length >= FILES_MAX) {
      throw new Problem(`${address} has ${FILES_MAX} files or more, so it is not one model.`);
    }
    return tree.flatMap((entry: unknown) => {
      if (at(entry, 'type') !== 'file') return [];
      const path = at(entry, 'path');
      const segments = typeof path === 'string' ? path.split('/') : [];
      const isPlain = segments.every((part) => /^(?!\.{1,2}$)[^\p{Cc}\\]{1,255}$/u.test(part));
      if (typeof path !== 'string' || !isPlain) {
        throw new Problem(
          `${address} has a file with a name that leads elsewhere: ${textOf(path)}`,
        );
      }
      const sha256 = textOf(at(at(entry, 'lfs'), 'oid')).replace(/^sha256:/, '');
      const git = textOf(at(entry, 'oid'));
      const bytes = Number(at(entry, 'size'));
      const isHashed = sha256 === '' ? SHA1.test(git) : SHA256.test(sha256);
      if (!isHashed || !Number.isSafeInteger(bytes) || bytes < 0) {
        throw new Problem(`${address}: the hub tells no hash or size of ${path}.`);
      }
      const url = [base, ...segments.map(encodeURIComponent)].join('/');
      return { path, url, bytes, ...(sha256 === '' ? { git_sha1: git } : { sha256 }) };
    });
  }

  async #json(address: string, url: string): Promise<unknown> {
    let text: string;
    try {
      text = await bodyOf(address, await request(url, this.#limits()));
    } catch (error) {
      if (error instanceof Problem) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new Problem(`${this.#endpoint} cannot be reached (${reason}). Try again later.`);
    }
    try {
      return JSON.parse(text);
    } catch {
      throw new Problem(`${this.#endpoint} is not a model hub: its answer is not JSON.`);
    }
  }

  #limits() {
    return { signal: AbortSignal.timeout(ANSWER_MS_MAX), token: this.#token };
  }
}

async function bodyOf(name: string, response: IncomingMessage): Promise<string> {
  const { statusCode: status = 0, headers } = response;
  if (status !== 200) {
    response.destroy();
    if (status === 429 || status >= 500) {
      throw new Problem(`${name}: the hub answered ${status}. Try again later.`);
    }
    const advice =
      status === 404 && headers['x-error-code'] === undefined
        ? 'It does not exist there: check the name.'
        : adviceFor(status, headers['x-error-code']);
    throw new Problem(`${name}: the hub answered ${status}. ${advice}`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Problem(`${name}: the hub's answer is too long.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The error rates in a card's model-index, as it states them. */
function figuresOf(index: unknown): string[] {
  const results = list(index).flatMap((model) => list(at(model, 'results')));
  const figures = results.flatMap((result) =>
    list(at(result, 'metrics')).flatMap((metric) => {
      const type = textOf(at(metric, 'type')).toUpperCase();
      const value = Number(at(metric, 'value') ?? Number.NaN);
      if (!['WER', 'CER'].includes(type) || !Number.isFinite(value)) return [];
      return [`${type} ${value} on ${textOf(at(at(result, 'dataset'), 'name'))}, by its card`];
    }),
  );
  return figures.slice(0, FIGURES_MAX);
}

function at(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text of a stranger, made safe for a terminal. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '').slice(0, 200) : '';
}
