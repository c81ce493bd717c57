#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import type { Language } from '@svc-asr/protocol/languages.ts';
import { addresses, endWithError, setting, stopOnSignal } from '@svc-asr/runtime/program.ts';
import { Command, InvalidArgumentError, Option } from 'commander';
import { isNetworkIsolated } from '@svc-asr/runtime/audio-sandbox.ts';
import { DEFAULT_CONFIG, type Config } from './config.ts';
import type { Notice } from './door.ts';
import { DOORS } from './doors.ts';
import { startCompatible } from './server.ts';

const program = new Command('svc-compatible')
  .description('Serves programs that were written for the OpenAI and Deepgram speech APIs.')
  .addOption(
    new Option('--language <language>', 'language of requests that name none').choices([
      'ki',
      'luo',
    ]),
  )
  .option('--host <address>', 'address to listen on', DEFAULT_CONFIG.host)
  .option('--port <number>', 'its port', wholeNumber, DEFAULT_CONFIG.port)
  .option('--tls-cert <file>', 'certificate chain (PEM)')
  .option('--tls-key <file>', 'its key (PEM)')
  .option(
    '--trusted-proxy <addresses>',
    'proxies that end TLS, such as 10.0.0.5,10.1.0.0/16',
    addresses,
    [],
  )
  .option('--ffmpeg <path>', 'the ffmpeg to use', DEFAULT_CONFIG.ffmpeg)
  .option('--drain-seconds <number>', 'how long SIGTERM waits for requests', wholeNumber, 300)
  .addHelpText(
    'after',
    `
Programs send their svc_live_v1_ key as the API key of OpenAI or Deepgram. This program has no key of its own.
Problems are written to the standard error. They never contain keys, audio or text.

Environment:
  SVC_BASE_URL                    the service
  SVC_COMPATIBLE_METRICS_TOKEN    turns /metrics on, for Authorization: Bearer

Paths, each also after /ki or /luo:
  ${DOORS.flatMap(({ paths }) => paths.slice(0, 1)).join('\n  ')}
  /healthz, /readyz, /metrics (without a language)`,
  );

interface Options {
  readonly language?: Language;
  readonly host: string;
  readonly port: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly trustedProxy: readonly string[];
  readonly ffmpeg: string;
  readonly drainSeconds: number;
}

function wholeNumber(value: string): number {
  const number = Number(value);
  if (value !== '' && Number.isInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('Use a whole number.');
}

function toConfig(options: Options): Config {
  const baseUrl = setting('SVC_BASE_URL');
  if (baseUrl === null) throw new Error('Set SVC_BASE_URL to the address of the service.');
  return {
    ...DEFAULT_CONFIG,
    baseUrl,
    host: options.host,
    port: options.port,
    tls: readTls(options),
    trustedProxies: options.trustedProxy,
    defaultLanguage: options.language ?? null,
    metricsToken: setting('SVC_COMPATIBLE_METRICS_TOKEN'),
    ffmpeg: options.ffmpeg,
  };
}

function readTls({ tlsCert, tlsKey }: Options): Config['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Error('Pass --tls-cert and --tls-key together.');
  }
  return { cert: readFileSync(tlsCert, 'utf8'), key: readFileSync(tlsKey, 'utf8') };
}

const NOT_ISOLATED: Notice = {
  level: 'warning',
  code: 'network_not_isolated',
  message:
    'ffmpeg shares the network of this program: the system allows no user namespaces. Its protocols stay limited to the ' +
    'one file. docs/guides/compatible.md says more.',
};

function log({ level, code, message }: Notice): void {
  process.stderr.write(`svc-compatible: ${level} ${code}: ${message}\n`);
}

async function main(): Promise<void> {
  const options = program.exitOverride().parse().opts<Options>();
  if (!isNetworkIsolated()) log(NOT_ISOLATED);
  const server = await startCompatible(toConfig(options), { doors: DOORS, log });
  process.stderr.write(`${server.url}\n`);
  stopOnSignal(() => server.drain(options.drainSeconds * 1000));
}

await main().catch((error: unknown) => endWithError(error, program.name()));
