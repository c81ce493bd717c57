import type { Language } from '@svc-asr/protocol/languages.ts';
import { isProxyEntry } from '@svc-asr/runtime/network.ts';
import { isLoopback } from '@svc-asr/runtime/server-access.ts';

/** Everything has a limit. The values are in `DEFAULT_LIMITS`. */
export interface Limits {
  /** The largest request body. */
  readonly bodyBytes: number;
  /** The longest audio of one request or one socket's container. */
  readonly audioMs: number;
  /** Open requests and sockets: in all, of one account, and from one address. */
  readonly connections: number;
  readonly connectionsPerAccount: number;
  readonly connectionsPerAddress: number;
  /** Those of them whose key the service has not confirmed yet: in all, and from one /24 or /64. */
  readonly unprovenConnections: number;
  readonly unprovenPerNetwork: number;
  /** Files and live containers at once, and of these of one account. Each has an ffmpeg process or a file on the disk. */
  readonly decoders: number;
  readonly decodersPerAccount: number;
  /** Bytes of files on the disk: in all, and of one account. */
  readonly diskBytes: number;
  readonly diskBytesPerAccount: number;
  /** The largest file that a socket sends while it is recorded, if it must be on the disk to be read. */
  readonly liveFileBytes: number;
  /** How long a request waits for a session while the account is at its limit. Clients give up after 10 s. */
  readonly sessionWaitMs: number;
  /** How long a client's socket may send nothing. Clients of Deepgram send KeepAlive every 5 s. */
  readonly listenIdleMs: number;
  readonly realtimeIdleMs: number;
  /** How long a body may send nothing, and how long a response may stay unread. */
  readonly idleMs: number;
}

export interface Config {
  /** The service, such as `https://asr.example.org`. */
  readonly baseUrl: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** PEM. Null: plain HTTP, for this machine or behind a proxy. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Addresses and networks of proxies that end TLS and write X-Forwarded-For. */
  readonly trustedProxies: readonly string[];
  /** For requests that name no language. Null: they are refused. */
  readonly defaultLanguage: Language | null;
  /** `/metrics` needs `Authorization: Bearer` with it. Null: no metrics. */
  readonly metricsToken: string | null;
  readonly ffmpeg: string;
  readonly limits: Limits;
}

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 1_000_000_000,
  audioMs: 2 * 60 * 60_000,
  connections: 1_000,
  connectionsPerAccount: 50,
  connectionsPerAddress: 200,
  unprovenConnections: 200,
  unprovenPerNetwork: 50,
  decoders: 16,
  decodersPerAccount: 8,
  diskBytes: 4_000_000_000,
  diskBytesPerAccount: 2_000_000_000,
  liveFileBytes: 200_000_000,
  sessionWaitMs: 8_000,
  listenIdleMs: 60_000,
  realtimeIdleMs: 300_000,
  idleMs: 30_000,
};

export const DEFAULT_CONFIG: Omit<Config, 'baseUrl'> = {
  host: '127.0.0.1',
  port: 3002,
  tls: null,
  trustedProxies: [],
  defaultLanguage: null,
  metricsToken: null,
  ffmpeg: 'ffmpeg',
  limits: DEFAULT_LIMITS,
};

/** Throws instead of taking API keys in clear text from other machines. */
export function checkConfig(config: Config): void {
  const wrong = config.trustedProxies.filter((entry) => !isProxyEntry(entry));
  if (wrong.length > 0) {
    throw new Error(`Invalid proxy ${wrong.join(', ')}. Use 10.0.0.5 or 10.1.0.0/16.`);
  }
  if (isLoopback(config.host) || config.tls !== null || config.trustedProxies.length > 0) return;
  throw new Error(
    `API keys would travel to ${config.host} in clear text. Pass --tls-cert and --tls-key, or --trusted-proxy with ` +
      'the address of the proxy that ends TLS, or listen on 127.0.0.1.',
  );
}
