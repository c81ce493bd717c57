import type { AsrSession, CreditBalance, Model, ModelId } from '@svc-asr/protocol';
import { API_KEY_PREFIX } from '@svc-asr/protocol/constants.ts';
import { trimSlashes } from '@svc-asr/protocol/trim-slashes.ts';
import { isBalance, isModelList, isSession } from './response-guards.ts';
import { SvcError } from './errors.ts';
import { request, type HttpOptions } from './http.ts';
import type { RateLimit } from './rate-limit.ts';
import { UnansweredKeys } from './unanswered-keys.ts';

export interface ClientOptions {
  /** The service's address, such as `https://asr.example.org`. Default: the environment variable SVC_BASE_URL. */
  readonly baseUrl?: string;
  /** Default: the environment variable SVC_API_KEY. Only `models.list()` works without a key. */
  readonly apiKey?: string;
  /** Time limit of one attempt. Default 10,000. */
  readonly timeoutMs?: number;
  /** How often to retry 429, 503 and lost connections. Default 6; 0 turns retries off. */
  readonly retriesMax?: number;
  /** Limit for the total time between attempts. Default 90,000: an unused reservation lasts 60 s. */
  readonly waitMsMax?: number;
  /**
   * Time limit of a whole call, attempts and waits together. Default 120,000. Set 3,000 on a server that answers a
   * browser: brief trouble is still retried, and the page gets every other refusal at once, with its `retryAfterMs`.
   */
  readonly deadlineMs?: number;
  /** Allows sending the key over plain http to another machine. Only for closed test networks. */
  readonly allowInsecure?: boolean;
  /** Called with the `RateLimit` header of each response that has one, so that bulk jobs can pace themselves. */
  readonly onRateLimit?: (limit: RateLimit) => void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

export interface CreateSessionParams {
  readonly model: ModelId;
  /** 1 to 300, default 60. The reservation may be lower; the response has the actual value. */
  readonly maxAudioSeconds?: number;
}

export interface CreateSessionOptions extends RequestOptions {
  /**
   * Default: a random key, shared by all retries of a call, and by the next call for the same if this one fails. The
   * session of a lost response is then not reserved twice.
   */
  readonly idempotencyKey?: string | undefined;
}

/** For trusted servers only: holds the permanent API key. Browsers receive only the result of `sessions.create()`. */
export class SvcClient {
  readonly models: { list(options?: RequestOptions): Promise<Model[]> };
  readonly sessions: {
    /** Reserves audio credit. Treat the whole result as a secret: it opens one stream. */
    create(params: CreateSessionParams, options?: CreateSessionOptions): Promise<AsrSession>;
  };
  readonly usage: { get(options?: RequestOptions): Promise<CreditBalance> };

  constructor(options: ClientOptions = {}) {
    refuseBrowser();
    const open = toHttpOptions(options);
    const unanswered = new UnansweredKeys();
    this.models = {
      list: async ({ signal } = {}) =>
        (
          await request(open, {
            accepts: isModelList,
            method: 'GET',
            path: '/v1/models',
            signal,
          })
        ).data,
    };
    this.sessions = {
      create: async ({ model, maxAudioSeconds }, { signal, idempotencyKey } = {}) => {
        const body = { model, max_audio_seconds: maxAudioSeconds };
        const path = '/v1/asr/sessions';
        const input = { accepts: isSession, method: 'POST', path, body, signal } as const;
        // One key for all attempts: a retry after a lost response must find the first reservation.
        const create = (key: string) => request(withKey(open), { ...input, idempotencyKey: key });
        if (idempotencyKey !== undefined) return create(idempotencyKey);
        return unanswered.use(JSON.stringify(body), create);
      },
    };
    this.usage = {
      get: ({ signal } = {}) =>
        request(withKey(open), { accepts: isBalance, method: 'GET', path: '/v1/usage', signal }),
    };
  }
}

function toHttpOptions(options: ClientOptions): HttpOptions {
  const baseUrl = options.baseUrl ?? environment('SVC_BASE_URL');
  if (baseUrl === undefined) {
    throw misuse('missing_base_url', 'No base URL. Pass baseUrl or set SVC_BASE_URL.');
  }
  const url = parseBaseUrl(baseUrl);
  const apiKey = options.apiKey ?? environment('SVC_API_KEY') ?? null;
  if (apiKey !== null) checkKey(apiKey, url, options.allowInsecure ?? false);
  return {
    baseUrl: trimSlashes(baseUrl),
    apiKey,
    timeoutMs: options.timeoutMs ?? 10_000,
    deadlineMs: options.deadlineMs ?? 120_000,
    onRateLimit: options.onRateLimit,
    limits: { retriesMax: options.retriesMax ?? 6, waitMsMax: options.waitMsMax ?? 90_000 },
  };
}

function withKey(options: HttpOptions): HttpOptions {
  if (options.apiKey !== null) return options;
  throw misuse('missing_api_key', 'No API key. Pass apiKey or set SVC_API_KEY.');
}

function parseBaseUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url !== null && ['https:', 'http:'].includes(url.protocol)) return url;
  throw misuse(
    'invalid_base_url',
    'Invalid base URL. It starts with https:// and has no /v1, such as https://asr.example.org.',
  );
}

function checkKey(apiKey: string, { protocol, hostname }: URL, allowInsecure: boolean): void {
  if (!apiKey.startsWith(API_KEY_PREFIX)) {
    throw misuse(
      'invalid_api_key',
      `Invalid API key. Keys start with ${API_KEY_PREFIX}; copy the whole key.`,
    );
  }
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'https:' || loopback || allowInsecure) return;
  throw misuse(
    'insecure_base_url',
    'Plain http would expose the API key. Use https, or allowInsecure in a closed test network.',
  );
}

function environment(name: string): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env[name] || undefined;
}

function refuseBrowser(): void {
  if (!('document' in globalThis) && !('importScripts' in globalThis)) return;
  throw misuse(
    'key_in_browser',
    'SvcClient does not run in browsers, because it would expose the API key. Create sessions on your server and ' +
      'pass their JSON to @svc-asr/sdk/stream.',
  );
}

function misuse(code: string, message: string): SvcError {
  return new SvcError({ code, message, retryable: false });
}
