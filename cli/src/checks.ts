import { SvcError, type CreditBalance } from '@svc-asr/sdk';
import { openStream } from '@svc-asr/sdk/stream';
import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import type { Invocation } from './command.ts';
import { explain } from './explain.ts';
import { findRecorder, isInstalled } from './media.ts';
import { openClient, readSettings, type Settings } from './settings.ts';
import { clock } from './terminal.ts';

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
  readonly advice: string | null;
}

const CLOCK_SKEW_MS_MAX = 30_000;
const NETWORK_MS_MAX = 8_000;
/** A session just closed is gone by then; for one that lives on nobody should wait here. */
const STREAM_WAIT_MS_MAX = 6_000;

/** From the ground up: what stands on something broken is not checked, because its failure would say nothing. */
export async function* checkUp(invocation: Invocation): AsyncGenerator<Finding> {
  const settings = await readSettings(invocation.env).catch((error: unknown) => error);
  if (!isSettings(settings)) {
    yield bad('settings', explain(settings), null);
    return;
  }
  const address = await checkAddress(invocation, settings);
  yield address;
  if (settings.baseUrl !== undefined && address.ok) {
    const network = await checkNetwork(settings.baseUrl);
    yield* network.findings;
    if (network.reachable) yield* checkAccount(invocation, settings);
  }
  yield* checkPrograms();
}

function isSettings(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && 'source' in value;
}

async function checkAddress(invocation: Invocation, { baseUrl }: Settings): Promise<Finding> {
  if (baseUrl === undefined)
    return bad('address', 'none is set', 'Run `svc login`, or set SVC_BASE_URL.');
  const problem = await openClient(invocation.env, { needsKey: false }).catch(
    (error: unknown) => error,
  );
  // Anything else that a client refuses is the key, which comes later.
  return problem instanceof SvcError && problem.code.endsWith('_base_url')
    ? bad('address', baseUrl, explain(problem))
    : good('address', baseUrl);
}

async function checkNetwork(baseUrl: string): Promise<{ reachable: boolean; findings: Finding[] }> {
  const began = performance.now();
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/v1/models`, {
      signal: AbortSignal.timeout(NETWORK_MS_MAX),
    });
    await response.arrayBuffer();
    const tookMs = Math.round(performance.now() - began);
    if (!response.ok) {
      const found = `answers with status ${response.status}`;
      const advice = 'Is that the address of the service, without /v1? Is it up?';
      return { reachable: false, findings: [bad('network', found, advice)] };
    }
    const clockFinding = checkClock(response.headers.get('date'));
    return {
      reachable: true,
      findings: [good('network', `answers in ${tookMs} ms`), clockFinding],
    };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
    const advice = cause.includes('certificate')
      ? 'Check the address. For a certificate of your own: NODE_EXTRA_CA_CERTS=its-authority.pem.'
      : 'Check the address, the network and any proxy or firewall.';
    return {
      reachable: false,
      findings: [bad('network', `no answer${cause === '' ? '' : `: ${cause}`}`, advice)],
    };
  }
}

function checkClock(date: string | null): Finding {
  const skewMs = Math.abs(Date.now() - Date.parse(date ?? ''));
  // A service that does not say its time cannot be compared with.
  if (!Number.isFinite(skewMs)) return good('clock', 'the service does not tell its time');
  // The service tells whole seconds.
  if (skewMs < 2_000) return good('clock', "in step with the service's");
  const found = `${(skewMs / 1000).toFixed(0)} s off the service's`;
  return skewMs <= CLOCK_SKEW_MS_MAX
    ? good('clock', found)
    : bad('clock', found, 'Set the clock (NTP): sessions last only 60 s until they are used.');
}

async function* checkAccount(invocation: Invocation, settings: Settings): AsyncGenerator<Finding> {
  if (settings.apiKey === undefined) {
    yield bad('key', 'none is set', 'Run `svc login`, or set SVC_API_KEY.');
    return;
  }
  const usage = await askUsage(invocation);
  if (usage instanceof SvcError) {
    yield bad('key', explain(usage), adviceFor(usage));
    return;
  }
  yield good('key', `works (from the ${settings.source})`);
  yield usage.available_ms >= 1_000
    ? good('credit', `${clock(usage.available_ms)} left`)
    : bad('credit', 'less than a second left', 'Ask the operator of the service for more.');
  if (usage.available_ms >= 1_000) yield await checkStream(invocation);
}

async function askUsage(invocation: Invocation): Promise<CreditBalance | SvcError> {
  try {
    const client = await openClient(invocation.env, { retriesMax: 1 });
    return await client.usage.get();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
}

function adviceFor(error: SvcError): string {
  if (error.status === 403) return 'Ask the operator of the service about the account.';
  if (error.retryable) return 'The service is busy or down. Try again in a minute.';
  return 'Copy the key again, whole, or make a new one in the console. Then run `svc login`.';
}

/** As far as `ready`, and not one sample further. */
async function checkStream(invocation: Invocation): Promise<Finding> {
  try {
    const client = await openClient(invocation.env, { waitMsMax: STREAM_WAIT_MS_MAX });
    const [model] = MODEL_IDS;
    const session = await client.sessions.create({ model, maxAudioSeconds: 1 });
    const began = performance.now();
    const stream = openStream({ session });
    const ready = new Promise<number>((resolve) => {
      stream.on('ready', () => resolve(Math.round(performance.now() - began)));
    });
    const outcome = await Promise.race([ready, stream.closed]);
    await stream.close();
    return typeof outcome === 'number'
      ? good('stream', `ready in ${outcome} ms`)
      : bad(
          'stream',
          `${outcome.message} (${outcome.reason})`,
          'A proxy that forbids WebSocket looks like this.',
        );
  } catch (error) {
    const blocked = error instanceof SvcError && error.code === 'concurrency_limit_exceeded';
    return bad('stream', explain(error), blocked ? 'Another session is open; that is all.' : null);
  }
}

async function* checkPrograms(): AsyncGenerator<Finding> {
  yield (await isInstalled('ffmpeg'))
    ? good('ffmpeg', 'installed: `svc transcribe` reads any file')
    : bad('ffmpeg', 'not installed', 'Debian: apt-get install ffmpeg. macOS: brew install ffmpeg.');
  const recorder = await findRecorder();
  yield recorder === null
    ? bad('microphone', 'no recorder installed', 'Install arecord (alsa-utils), sox or ffmpeg.')
    : good('microphone', `${recorder.program} is there, for \`svc listen\``);
}

function good(check: string, found: string): Finding {
  return { check, ok: true, found, advice: null };
}

function bad(check: string, found: string, advice: string | null): Finding {
  return { check, ok: false, found, advice };
}
