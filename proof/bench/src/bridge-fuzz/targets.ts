import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROLE_NAME } from '@svc-asr/engine';
import { generateSecrets } from '@svc-asr/server/config.ts';
import { tlsEnvironment } from '@svc-asr/local/engine-node-process.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { Fleet } from '../service/fleet.ts';
import type { Address } from './attacker.ts';
import { ListeningProcess } from './listening-process.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const TOKEN = 'campaign-token-0123456789';

/** One port of one process. */
export interface Target extends Address {
  readonly name: string;
  readonly process: ListeningProcess;
  /** What is fuzzed: the TLS handshake, or the protocol inside it. */
  readonly speaks: 'tls' | 'http' | 'http2' | 'audiosocket';
  /** Paths of media sockets that the attacker may open. */
  readonly calls: readonly string[];
  /** Header lines that open them, such as the key. */
  readonly headers?: string;
}

export interface Targets {
  readonly all: readonly Target[];
  /** Starts one more program, which stops with the others. */
  start(input: Parameters<typeof ListeningProcess.start>[0]): Promise<ListeningProcess>;
  stop(): Promise<void>;
}

/** Starts every program of this repository that listens. */
export async function startTargets(): Promise<Targets> {
  const folder = await mkdtemp(join(tmpdir(), 'bridge-fuzz-'));
  const ca = await PrivateCa.create();
  const fleet = await Fleet.start();
  const processes: ListeningProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.stop()));
    await fleet.stop();
    await ca.remove();
    await rm(folder, { recursive: true, force: true });
  };
  const start = async (
    input: Parameters<typeof ListeningProcess.start>[0],
  ): Promise<ListeningProcess> => {
    const started = await ListeningProcess.start({
      ...input,
      program: join(ROOT, input.program),
    });
    processes.push(started);
    return started;
  };
  try {
    const [engine, emulator] = await Promise.all([
      startEngineNode(start, ca),
      startEmulatorAndClients(start),
    ]);
    // Both use the engine node, as in production, so only one process loads the models.
    const gateway = {
      ...tlsEnvironment(await ca.issue(ROLE_NAME.gateway)),
      ENGINE_ADDRESSES: `127.0.0.1:${engine[0]?.port}`,
      DATABASE_URL: fleet.postgres.url,
    };
    const services = await Promise.all([
      startService(start, gateway),
      startDev(start, { ...gateway, SVC_DEV_DIR: folder }),
    ]);
    return { all: [...engine, ...emulator, ...services.flat()], start, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Start = (input: Parameters<typeof ListeningProcess.start>[0]) => Promise<ListeningProcess>;

type Env = Readonly<Record<string, string>>;

async function startService(start: Start, env: Env): Promise<Target[]> {
  const port = await freePort();
  const process = await start({
    name: 'service',
    program: 'core/server/src/main.ts',
    env: {
      ...env,
      ...generateSecrets(),
      PORT: String(port),
      PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}/v1/asr/stream`,
      ALLOW_INSECURE_WS: '1',
      NODE_ID: 'fuzzed',
    },
    ready: /"listening"/,
  });
  return [httpTarget('service', process, port)];
}

async function startDev(start: Start, env: Env): Promise<Target[]> {
  const port = await freePort();
  const process = await start({
    name: 'npm run dev',
    program: 'core/server/scripts/dev.ts',
    env: { ...env, PORT: String(port) },
    ready: /ready in/,
  });
  const tls = { rejectUnauthorized: false };
  return [
    { ...httpTarget('npm run dev', process, port), tls },
    { ...httpTarget('npm run dev, TLS', process, port), speaks: 'tls' },
  ];
}

async function startEngineNode(start: Start, ca: PrivateCa): Promise<Target[]> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const gateway = await ca.issue(ROLE_NAME.gateway);
  const process = await start({
    name: 'engine node',
    program: 'core/engine/src/node/main.ts',
    env: {
      ENGINE_CHILDREN: '1',
      MODELS_DIR,
      ...tlsEnvironment(await ca.issue(ROLE_NAME.engine)),
      ENGINE_LISTEN: `127.0.0.1:${port}`,
      METRICS_PORT: String(metricsPort),
    },
    ready: /"listening"/,
  });
  const tls = {
    rejectUnauthorized: false,
    cert: await readFile(gateway.certFile),
    key: await readFile(gateway.keyFile),
    ALPNProtocols: ['h2'],
  };
  const grpc = { name: 'engine node, gRPC', process, port, calls: [] };
  return [
    { ...grpc, speaks: 'http2', tls },
    { ...grpc, name: 'engine node, TLS', speaks: 'tls', tls: null },
    httpTarget('engine node, metrics', process, metricsPort),
  ];
}

async function startEmulatorAndClients(start: Start): Promise<Target[]> {
  const emulator = await start({
    name: 'emulator',
    program: 'clients/emulator/src/main.ts',
    args: ['--port', '0', '--control-port', '0', '--concurrency', '100'],
    ready: /SVC_BASE_URL=\S+:(\d+)\n.*SVC_API_KEY=(\S+)\n.*SVC_EMULATOR_URL=\S+:(\d+)/,
  });
  const [, port = '', apiKey = '', controlPort = ''] = emulator.greeting;
  const client = { SVC_BASE_URL: `http://127.0.0.1:${port}`, SVC_API_KEY: apiKey, PORT: '0' };
  const examples = await Promise.all([
    start({
      name: 'whatsapp example',
      program: 'clients/examples/whatsapp/server.ts',
      env: {
        ...client,
        GRAPH_URL: 'http://127.0.0.1:9',
        WHATSAPP_TOKEN: TOKEN,
        WHATSAPP_APP_SECRET: TOKEN,
        WHATSAPP_VERIFY_TOKEN: TOKEN,
      },
      ready: /^http:\S+:(\d+)/m,
    }),
    start({
      name: 'browser example',
      program: 'clients/examples/browser/server.ts',
      env: client,
      ready: /^http:\S+:(\d+)/m,
    }),
    start({
      name: 'telephony example',
      program: 'clients/examples/telephony/bridge.ts',
      env: client,
      ready: /^ws:\S+:(\d+)/m,
    }),
  ]);
  return [
    { ...httpTarget('emulator', emulator, Number(port)), headers: keyLine('Bearer', apiKey) },
    httpTarget('emulator, control port', emulator, Number(controlPort)),
    ...examples.map((process) => {
      const calls = process.name === 'telephony example' ? ['/'] : [];
      return { ...httpTarget(process.name, process, Number(process.greeting[1])), calls };
    }),
    ...(await startBridge(start, client)),
    ...(await startCompatible(start, client)),
  ];
}

/** The key opens sockets, so that their messages are fuzzed as well. */
async function startCompatible(
  start: Start,
  { SVC_BASE_URL, SVC_API_KEY }: { readonly SVC_BASE_URL: string; readonly SVC_API_KEY: string },
): Promise<Target[]> {
  const name = 'compatible APIs';
  const process = await start({
    name,
    program: 'clients/integrations/compatible/src/main.ts',
    args: ['--port', '0', '--language', 'ki'],
    env: { SVC_BASE_URL },
    ready: /^http:\S+:(\d+)/m,
  });
  const target = httpTarget(name, process, Number(process.greeting[1]));
  const headers = keyLine('Token', SVC_API_KEY);
  const calls = [
    '/v1/listen?encoding=linear16&sample_rate=8000&interim_results=true',
    '/v1/listen',
    '/v2/listen?encoding=linear16&sample_rate=16000&eager_eot_threshold=0.5',
  ];
  return [{ ...target, headers, calls }];
}

async function startBridge(start: Start, env: Env): Promise<Target[]> {
  const process = await start({
    name: 'telephone bridge',
    program: 'clients/integrations/telephony/src/main.ts',
    args: ['--port', '0', '--audiosocket-port', '0'],
    env: { ...env, SVC_TELEPHONY_TOKEN: TOKEN },
    ready: /ws:\S+:(\d+), AudioSocket on port (\d+)/,
  });
  const [, port = '', audioSocketPort = ''] = process.greeting;
  const calls = ['twilio', 'jambonz', 'freeswitch'].map((system) => `/${system}/${TOKEN}`);
  return [
    { ...httpTarget('telephone bridge', process, Number(port)), calls },
    {
      name: 'telephone bridge, AudioSocket',
      process,
      port: Number(audioSocketPort),
      tls: null,
      speaks: 'audiosocket',
      calls: [],
    },
  ];
}

function keyLine(scheme: string, apiKey: string): string {
  return `Authorization: ${scheme} ${apiKey}\r\n`;
}

export function httpTarget(name: string, process: ListeningProcess, port: number): Target {
  return { name, process, port, tls: null, speaks: 'http', calls: [] };
}
