import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { generateApiKey } from '@svc-asr/server/accounts/keys/format.ts';
import { openStream } from '@svc-asr/sdk/stream';
import { MODELS_DIR, speech, type Speech } from '@svc-asr/testing/speech/fixtures.ts';
import { reserveSession, type Tenant } from '../service/fleet.ts';
import {
  runClient,
  type ClientOutcome,
  type ClientProgram,
  type ClientRun,
} from './client-program.ts';
import type { CompatibleFleet } from './compatible-fleet.ts';

/**
 * `yes`: as promised. `status`: the client shows the HTTP status, but hides our sentence. `none`: its API can't do it.
 * `no`: it failed.
 */
type Verdict = 'yes' | 'status' | 'none' | 'no';

export interface ClientRow {
  readonly client: string;
  readonly version: string;
  /** The short form leaves checks out. */
  readonly checks: Readonly<Partial<Record<Check, Verdict>>>;
}

const CHECKS = [
  'kikuyu',
  'dholuo',
  'interim',
  'ends',
  'wrong_key',
  'no_credit',
  'limit',
  'restart',
] as const;
type Check = (typeof CHECKS)[number];

const KIKUYU = speech('kikuyu-1');
const DHOLUO = speech('dholuo-1');
const CREDIT_MS = 600_000;
const SPEAK_EVERY_MS = 5_000;
const PIECE_BYTES = 3_200;
/** The status of each refusal, and a part of the sentence that the service sends with it. */
const REFUSALS = {
  wrong_key: { status: '401', sentence: 'key' },
  no_credit: { status: '402', sentence: 'audio credit is left' },
  limit: { status: '429', sentence: 'already has' },
} as const;
type RefusalCheck = keyof typeof REFUSALS;

/** Where the checks run. `folder` is for temporary files. */
export interface CheckContext {
  readonly service: CompatibleFleet;
  readonly folder: string;
}

export interface Checked {
  readonly checks: ClientRow['checks'];
  readonly outcomes: readonly ClientOutcome[];
}

/** Runs every check but the restart with one client, each with an account of its own. */
export async function checkClient(
  program: ClientProgram,
  { service, folder }: CheckContext,
): Promise<Checked> {
  const { runs, release } = await prepareRuns(service, folder);
  const server = addressFor(program, service);
  const outcomes = await runClient(program, { ...server, runs }).finally(release);
  const outcome = (check: string): ClientOutcome | undefined =>
    outcomes.find((each) => each.check === check);
  const refuses = (check: RefusalCheck): Verdict => shown(outcome(check)?.error ?? '', check);
  const spoken = [outcome('kikuyu'), outcome('dholuo')];
  const checks = {
    kikuyu: verdict(outcome('kikuyu')?.text === KIKUYU.expected),
    dholuo: verdict(outcome('dholuo')?.text === DHOLUO.expected),
    interim:
      program.hasNoInterims === true
        ? ('none' as const)
        : verdict(spoken.every((each) => (each?.interims ?? 0) > 0)),
    ends: verdict(spoken.every((each) => each?.error === null)),
    wrong_key: refuses('wrong_key'),
    no_credit: refuses('no_credit'),
    limit: refuses('limit'),
  };
  return { checks, outcomes };
}

/** Kills the only streaming node while the client speaks and starts it again. No other client may run meanwhile. */
export async function checkRestart(
  program: ClientProgram,
  { service, folder }: CheckContext,
): Promise<Checked> {
  const [tenant] = await service.fleet.addTenants(1, CREDIT_MS);
  const restarts: Promise<void>[] = [];
  const outcomes = await runClient(program, {
    ...addressFor(program, service),
    runs: [run('restart', { apiKey: tenant?.apiKey, sentence: KIKUYU, folder })],
    onSpeaking: () => void restarts.push(service.restartNode()),
  });
  await Promise.all(restarts);
  const isWhole = outcomes[0]?.text === KIKUYU.expected && outcomes[0].error === null;
  return { checks: { restart: verdict(restarts.length === 1 && isWhole) }, outcomes };
}

function addressFor(
  program: ClientProgram,
  service: CompatibleFleet,
): { readonly baseUrl: string; readonly certFile: string } {
  return { baseUrl: service.urlFor(program), certFile: service.certificate.certFile };
}

async function prepareRuns(
  service: CompatibleFleet,
  folder: string,
): Promise<{ readonly runs: readonly ClientRun[]; readonly release: () => void }> {
  const { fleet, api } = service;
  const [first, second, full] = await fleet.addTenants(3, CREDIT_MS);
  const [poor] = await fleet.addTenants(1, 0);
  if (full === undefined) throw new Error('No accounts.');
  const release = await occupy(api.url, full);
  const kikuyu = { sentence: KIKUYU, folder };
  const runs = [
    run('limit', { ...kikuyu, apiKey: full.apiKey }),
    run('kikuyu', { ...kikuyu, apiKey: first?.apiKey }),
    run('dholuo', { apiKey: second?.apiKey, sentence: DHOLUO, folder }),
    run('wrong_key', { ...kikuyu, apiKey: generateApiKey().key }),
    run('no_credit', { ...kikuyu, apiKey: poor?.apiKey }),
  ];
  return { runs, release };
}

/** Opens the one session that an account may have, and keeps it open until the returned function is called. */
async function occupy(url: string, tenant: Tenant): Promise<() => void> {
  const stream = openStream({
    getSession: () => reserveSession(url, tenant, { model: KIKUYU.model }),
  });
  const isReady = Promise.withResolvers<unknown>();
  stream.on('ready', isReady.resolve);
  void stream.closed.then(isReady.reject);
  await isReady.promise;
  const speak = (): void => void stream.write(new Uint8Array(PIECE_BYTES)).catch(() => undefined);
  speak();
  const timer = setInterval(speak, SPEAK_EVERY_MS);
  return () => {
    clearInterval(timer);
    void stream.close();
  };
}

function run(
  check: Check,
  input: {
    readonly apiKey: string | undefined;
    readonly sentence: Speech;
    readonly folder: string;
  },
): ClientRun {
  const { apiKey = '', sentence, folder } = input;
  return { check, apiKey, model: sentence.model, ...recordings(sentence, folder) };
}

function recordings({ name }: Speech, folder: string): Pick<ClientRun, 'wav16k' | 'wav24k'> {
  const wav16k = join(MODELS_DIR, 'fixtures', `${name}.wav`);
  const wav24k = join(folder, `${name}-24k.wav`);
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-i', wav16k, '-ar', '24000', '-bitexact', wav24k]);
  return { wav16k, wav24k };
}

function shown(error: string, check: RefusalCheck): Verdict {
  const { status, sentence } = REFUSALS[check];
  if (error.includes(sentence)) return 'yes';
  return error.includes(status) ? 'status' : 'no';
}

function verdict(isMet: boolean): Verdict {
  return isMet ? 'yes' : 'no';
}
