import type { AsrSession, CreditBalance, Model, ModelId } from '@svc-asr/protocol';
import { API_KEY_PREFIX } from '@svc-asr/protocol/constants.ts';
import { isBalance, isModelList, isSession } from './answers.ts';
import { SvcError } from './errors.ts';
import { request, type HttpOptions } from './http.ts';

export interface ClientOptions {
  /** Where the service is, such as `https://asr.example.org`. Default: the environment's SVC_BASE_URL. */
  readonly baseUrl?: string;
  /** Default: the environment's SVC_API_KEY. Only `models.list()` works without one. */
  readonly apiKey?: string;
  /** How long one try may take. Default 10,000. */
  readonly timeoutMs?: number;
  /** How often 429, 503 and lost connections are tried again. Default 6; 0 for never. */
  readonly retriesMax?: number;
  /** How long all those waits together may last. Default 90,000: a forgotten reservation lives for 60 s. */
  readonly waitMsMax?: number;
  /** Lets the key travel over plain http to another machine. Only for closed test networks. */
  readonly allowInsecure?: boolean;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

export interface CreateSessionParams {
  readonly model: ModelId;
  /** 1 to 300, default 60. The reservation may be lower: the answer says what it is. */
  readonly maxAudioSeconds?: number;
}

export interface CreateSessionOptions extends RequestOptions {
  /** Default: a fresh one for each call, the same for all its retries. */
  readonly idempotencyKey?: string;
}

/** For trusted servers: holds the permanent key. Browsers get the result of `sessions.create()` and no more. */
export class SvcClient {
  readonly models: { list(options?: RequestOptions): Promise<Model[]> };
  readonly sessions: {
    /** Reserves audio time. Treat the whole result as a secret: it opens one stream. */
    create(params: CreateSessionParams, options?: CreateSessionOptions): Promise<AsrSession>;
  };
  readonly usage: { get(options?: RequestOptions): Promise<CreditBalance> };

  constructor(options: ClientOptions = {}) {
    refuseBrowser();
    const open = toHttpOptions(options);
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
      create: (params, { signal, idempotencyKey } = {}) =>
        request(withKey(open), {
          accepts: isSession,
          method: 'POST',
          path: '/v1/asr/sessions',
          body: { model: params.model, max_audio_seconds: params.maxAudioSeconds },
          // One key for all tries: a retry after a lost answer must find the first reservation.
          idempotencyKey: idempotencyKey ?? crypto.randomUUID(),
          signal,
        }),
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
    throw misuse('missing_base_url', 'Give baseUrl, or set SVC_BASE_URL in the environment.');
  }
  const url = parseBaseUrl(baseUrl);
  const apiKey = options.apiKey ?? environment('SVC_API_KEY') ?? null;
  if (apiKey !== null) checkKey(apiKey, url, options.allowInsecure ?? false);
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    timeoutMs: options.timeoutMs ?? 10_000,
    limits: { retriesMax: options.retriesMax ?? 6, waitMsMax: options.waitMsMax ?? 90_000 },
  };
}

function withKey(options: HttpOptions): HttpOptions {
  if (options.apiKey !== null) return options;
  throw misuse('missing_api_key', 'Give apiKey, or set SVC_API_KEY in the environment.');
}

function parseBaseUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url !== null && ['https:', 'http:'].includes(url.protocol)) return url;
  throw misuse(
    'invalid_base_url',
    'The base URL begins with https:// and has no /v1, as in https://asr.example.org.',
  );
}

function checkKey(apiKey: string, { protocol, hostname }: URL, allowInsecure: boolean): void {
  if (!apiKey.startsWith(API_KEY_PREFIX)) {
    throw misuse('invalid_api_key', `An API key begins with ${API_KEY_PREFIX}. Copy it whole.`);
  }
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'https:' || loopback || allowInsecure) return;
  throw misuse(
    'insecure_base_url',
    'Plain http would show the API key to the network. Use https, or allowInsecure in a test network.',
  );
}

function environment(name: string): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env[name] || undefined;
}

function refuseBrowser(): void {
  if (!('document' in globalThis) && !('importScripts' in globalThis)) return;
  throw misuse(
    'key_in_browser',
    'An API key must not reach a browser. Create sessions on your server and give the browser ' +
      'only their JSON, for @svc-asr/sdk/stream.',
  );
}

function misuse(code: string, message: string): SvcError {
  return new SvcError({ code, message, retryable: false });
}
