import { SvcError, type CreditBalance } from '@svc-asr/sdk';
import { openStream } from '@svc-asr/sdk/stream';
import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import type { Context } from './command.ts';
import { describeError } from './error-messages.ts';
import { findRecorder, isInstalled, record } from './media.ts';
import { openClient, readSettings, type Settings } from './settings.ts';
import { clock } from './terminal.ts';

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** Only some commands need it, so it doesn't make the diagnosis fail. */
  readonly optional?: true;
  readonly found: string;
  readonly advice: string | null;
}

const CLOCK_SKEW_MS_MAX = 30_000;
const NETWORK_MS_MAX = 8_000;
/** Long enough for a session that was just closed. Not worth waiting for a session that stays open. */
const STREAM_WAIT_MS_MAX = 6_000;
const MICROPHONE_MS_MAX = 3_000;
/** A quarter of a second of 16 kHz PCM. */
const MICROPHONE_BYTES = 8_000;

/** Runs the checks in order of dependency. Skips checks whose prerequisites failed. */
export async function* diagnose(context: Context): AsyncGenerator<Finding> {
  const settings = await readSettings(context.env).catch((error: unknown) => error);
  if (!isSettings(settings)) {
    yield bad('settings', describeError(settings), null);
    return;
  }
  const address = await checkAddress(context, settings);
  yield address;
  if (settings.baseUrl !== undefined && address.ok) {
    const network = await checkNetwork(settings.baseUrl);
    yield* network.findings;
    if (network.reachable) yield* checkAccount(context, settings);
  }
  yield* checkPrograms(context.interrupted);
}

function isSettings(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && 'source' in value;
}

async function checkAddress(context: Context, { baseUrl }: Settings): Promise<Finding> {
  if (baseUrl === undefined)
    return bad('address', 'not set', 'Run `svc login`, or set SVC_BASE_URL.');
  const problem = await openClient(context.env, { needsKey: false }).catch(
    (error: unknown) => error,
  );
  // The client can also refuse the key, which is checked later.
  return problem instanceof SvcError && problem.code.endsWith('_base_url')
    ? bad('address', baseUrl, describeError(problem))
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
      const found = `responds with status ${response.status}`;
      const advice = 'Check that the address has no /v1 and that the service is up.';
      return { reachable: false, findings: [bad('network', found, advice)] };
    }
    const clockFinding = checkClock(response.headers.get('date'));
    return {
      reachable: true,
      findings: [good('network', `responds in ${tookMs} ms`), clockFinding],
    };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
    const advice = cause.includes('certificate')
      ? 'For `npm run dev`, run `. .dev/env` first. For a private certificate authority set NODE_EXTRA_CA_CERTS=authority.pem.'
      : 'Check the address, the network and any proxy or firewall.';
    return {
      reachable: false,
      findings: [bad('network', `no response${cause === '' ? '' : `: ${cause}`}`, advice)],
    };
  }
}

function checkClock(date: string | null): Finding {
  const skewMs = Math.abs(Date.now() - Date.parse(date ?? ''));
  if (!Number.isFinite(skewMs)) return good('clock', 'not checked: the service sends no time');
  // The service's time has whole seconds.
  if (skewMs < 2_000) return good('clock', "matches the service's clock");
  const found = `${(skewMs / 1000).toFixed(0)} s off the service's clock`;
  return skewMs <= CLOCK_SKEW_MS_MAX
    ? good('clock', found)
    : bad('clock', found, 'Set the clock (NTP). Unused sessions expire after 60 s.');
}

async function* checkAccount(context: Context, settings: Settings): AsyncGenerator<Finding> {
  if (settings.apiKey === undefined) {
    yield bad('key', 'not set', 'Run `svc login`, or set SVC_API_KEY.');
    return;
  }
  const usage = await askUsage(context);
  if (usage instanceof SvcError) {
    yield bad('key', describeError(usage), adviceFor(usage));
    return;
  }
  yield good('key', `works (from the ${settings.source})`);
  yield usage.available_ms >= 1_000
    ? good('credit', `${clock(usage.available_ms)} left`)
    : bad('credit', 'less than a second left', 'Ask the operator of the service to add credit.');
  if (usage.available_ms >= 1_000) yield await checkStream(context);
}

async function askUsage(context: Context): Promise<CreditBalance | SvcError> {
  try {
    const client = await openClient(context.env, { retriesMax: 1 });
    return await client.usage.get();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
}

function adviceFor(error: SvcError): string {
  if (error.status === 403) return 'Ask the operator of the service about the account.';
  if (error.retryable) return 'The service is busy or down. Try again in a minute.';
  return 'Copy the whole key again or create a new one in the console, then run `svc login`.';
}

/** Waits for `ready` and sends no audio. */
async function checkStream(context: Context): Promise<Finding> {
  try {
    const client = await openClient(context.env, { waitMsMax: STREAM_WAIT_MS_MAX });
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
          'A proxy may be blocking WebSocket.',
        );
  } catch (error) {
    const blocked = error instanceof SvcError && error.code === 'concurrency_limit_exceeded';
    return bad(
      'stream',
      describeError(error),
      blocked ? 'Another session is open. Close it, or wait for it to end.' : null,
    );
  }
}

async function* checkPrograms(interrupted: AbortSignal): AsyncGenerator<Finding> {
  yield (await isInstalled('ffmpeg'))
    ? good('ffmpeg', 'installed')
    : bad('ffmpeg', 'not installed', 'Debian: apt-get install ffmpeg. macOS: brew install ffmpeg.');
  yield await checkMicrophone(interrupted);
}

/** Records for a moment, because an installed recorder says nothing about a microphone. */
async function checkMicrophone(interrupted: AbortSignal): Promise<Finding> {
  const recorder = await findRecorder();
  const advice = 'Only `svc listen` needs it. Connect one, or choose another with --device NAME.';
  if (recorder === null) {
    return missing('no recorder is installed', 'Install arecord (alsa-utils), sox or ffmpeg.');
  }
  const enough = new AbortController();
  const signal = AbortSignal.any([
    interrupted,
    enough.signal,
    AbortSignal.timeout(MICROPHONE_MS_MAX),
  ]);
  let bytes = 0;
  let isSilent = true;
  try {
    for await (const piece of record(recorder, undefined, signal)) {
      bytes += piece.length;
      isSilent &&= piece.every((byte) => byte === 0);
      if (bytes >= MICROPHONE_BYTES) enough.abort();
    }
  } catch (error) {
    const reason = describeError(error).split('\n').at(-1) ?? '';
    return missing(`no audio from ${recorder.program}: ${reason}`, advice);
  }
  if (bytes < MICROPHONE_BYTES) return missing(`no audio from ${recorder.program}`, advice);
  if (isSilent) return missing(`${recorder.program} records only zeros`, 'Unmute the microphone.');
  return good('microphone', `${recorder.program} records sound`);
}

function missing(found: string, advice: string): Finding {
  return { ...bad('microphone', found, advice), optional: true };
}

function good(check: string, found: string): Finding {
  return { check, ok: true, found, advice: null };
}

function bad(check: string, found: string, advice: string | null): Finding {
  return { check, ok: false, found, advice };
}
