#!/usr/bin/env node
import { SvcClient } from '@svc-asr/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { startBridge } from './bridge.ts';
import type { BridgeOptions } from './bridge-options.ts';
import { checkKey } from './check-key.ts';
import { EventOutput } from './event-output.ts';
import type { CallEvent, Notice } from './events.ts';
import { MODELS, type Language } from '@svc-asr/protocol/languages.ts';
import { isNetworkIsolated } from '@svc-asr/runtime/audio-sandbox.ts';
import { addresses, endWithError, setting, stopOnSignal } from '@svc-asr/runtime/program.ts';
import { Webhook } from './webhook.ts';

const program = new Command('svc-telephony')
  .description('Transcribes telephone calls.')
  .addOption(
    new Option('--language <language>', 'language of calls that name none')
      .choices(['ki', 'luo'])
      .default('ki'),
  )
  .option(
    '--host <address>',
    'address for Twilio, FreeSWITCH, jambonz and chan_websocket',
    '127.0.0.1',
  )
  .option('--port <number>', 'its port', wholeNumber, 3001)
  .option('--public-url <url>', 'wss:// address in your TwiML, if a proxy is in front')
  .option(
    '--audiosocket-port <number>',
    "port for Asterisk's AudioSocket; off without it",
    wholeNumber,
  )
  .option('--audiosocket-host <address>', 'its address', '127.0.0.1')
  .option(
    '--audiosocket-allow <addresses>',
    'who may use it, such as 10.0.0.5,10.1.0.0/16',
    addresses,
    [],
  )
  .option('--silence-ms <number>', 'silence that ends an utterance', wholeNumber, 700)
  .option('--keyterms <words>', 'names and words to listen for, with commas between', addresses, [])
  .option(
    '--recordings-from <host>',
    'transcribe recordings at this host, whose addresses are posted to /recordings; repeatable',
    addresses,
    [],
  )
  .option('--recordings-from-private <host>', 'the same, for a private address', addresses, [])
  .option('--ffmpeg <path>', 'the ffmpeg that reads recordings', 'ffmpeg')
  .option('--webhook <url>', 'post each event to this address, signed')
  .option(
    '--output <file>',
    'append events to this file; - is the standard output (default without --webhook)',
  )
  .option('--drain-seconds <number>', 'how long SIGTERM waits for calls to end', wholeNumber, 300)
  .addHelpText(
    'after',
    `
Events are JSON objects: started, interim, final, dtmf, warning, ended, call_ended, recording.
Problems are written to the standard error. They never contain text of a call.

Environment:
  SVC_BASE_URL, SVC_API_KEY       the service
  SVC_TELEPHONY_TOKEN             WebSockets must carry it (/twilio/TOKEN); required unless --host is this machine
  TWILIO_AUTH_TOKEN               calls to /twilio must have Twilio's signature
  SVC_TELEPHONY_WEBHOOK_SECRET    signs the events of --webhook
  SVC_TELEPHONY_METRICS_TOKEN     turns /metrics on, for Authorization: Bearer

Paths:
  /twilio        Twilio Media Streams
  /freeswitch    FreeSWITCH mod_audio_fork; ?rate=16000&channels=2
  /jambonz       jambonz custom speech
  /asterisk      Asterisk chan_websocket; ?call=ID&leg=caller&language=ki
  /recordings    a form with recordingUrl; ?language=ki
  /healthz, /readyz, /metrics`,
  );

interface Options {
  readonly language: Language;
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly audiosocketPort?: number;
  readonly audiosocketHost: string;
  readonly audiosocketAllow: readonly string[];
  readonly silenceMs: number;
  readonly keyterms: readonly string[];
  readonly recordingsFrom: readonly string[];
  readonly recordingsFromPrivate: readonly string[];
  readonly ffmpeg: string;
  readonly webhook?: string;
  readonly output?: string;
  readonly drainSeconds: number;
}

/** How long the last events may take after the last call. */
const FLUSH_MS_MAX = 30_000;

function wholeNumber(value: string): number {
  const number = Number(value);
  if (value !== '' && Number.isInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('Use a whole number.');
}

function bridgeOptions(options: Options, client: SvcClient): Omit<BridgeOptions, 'onEvent'> {
  const { host, port, silenceMs, keyterms, audiosocketPort, ffmpeg } = options;
  const { recordingsFrom: from, recordingsFromPrivate: fromPrivate } = options;
  return {
    client,
    host,
    port,
    silenceMs,
    keyterms,
    onNotice: report,
    model: MODELS[options.language],
    audioSocket:
      audiosocketPort === undefined
        ? null
        : {
            port: audiosocketPort,
            host: options.audiosocketHost,
            allow: options.audiosocketAllow,
          },
    recordings: from.length + fromPrivate.length === 0 ? null : { from, fromPrivate, ffmpeg },
    token: setting('SVC_TELEPHONY_TOKEN'),
    twilioAuthToken: setting('TWILIO_AUTH_TOKEN'),
    publicUrl: options.publicUrl ?? null,
    metricsToken: setting('SVC_TELEPHONY_METRICS_TOKEN'),
  };
}

const NOT_ISOLATED: Notice = {
  level: 'warning',
  code: 'network_not_isolated',
  message:
    'ffmpeg shares the network of this program: the system allows no user namespaces. Its protocols stay limited to the ' +
    'one file.',
};

function report({ level, code, message, call, leg }: Notice): void {
  const ofLeg = leg === undefined ? '' : `, leg ${leg}`;
  const where = call === undefined ? '' : ` (call ${call}${ofLeg})`;
  process.stderr.write(`svc-telephony: ${level} ${code}${where}: ${message}\n`);
}

async function main(): Promise<void> {
  const options = program.exitOverride().parse().opts<Options>();
  // The bridge waits for sessions itself and says why.
  const client = new SvcClient({ retriesMax: 0 });
  const unreachable = await checkKey(client);
  if (unreachable !== null) {
    report({ level: 'warning', code: 'service_unreachable', message: unreachable });
  }
  const settings = bridgeOptions(options, client);
  if (settings.recordings && !isNetworkIsolated()) report(NOT_ISOLATED);
  const sinks: ((event: CallEvent) => void)[] = [];
  const bridge = await startBridge({
    ...settings,
    onEvent: (event) => {
      for (const sink of sinks) sink(event);
    },
  });
  const { metrics } = bridge;
  const closing: (() => Promise<void>)[] = [];
  try {
    if (options.webhook !== undefined) {
      const secret = setting('SVC_TELEPHONY_WEBHOOK_SECRET') ?? '';
      const webhook = new Webhook({ url: options.webhook, secret, metrics, onNotice: report });
      sinks.push((event) => webhook.send(event));
      closing.push(() => webhook.flush(FLUSH_MS_MAX));
    }
    if (options.webhook === undefined || options.output !== undefined) {
      const output = new EventOutput(options.output ?? '-', { metrics, onNotice: report });
      sinks.push((event) => output.write(event));
      closing.push(() => output.close());
    }
  } catch (error) {
    await bridge.stop();
    throw error;
  }
  const { url, audioSocketPort } = bridge;
  const asterisk = audioSocketPort === null ? '' : `, AudioSocket on port ${audioSocketPort}`;
  process.stderr.write(`${url}${asterisk}\n`);
  stopOnSignal(async () => {
    await bridge.drain(options.drainSeconds * 1000);
    for (const close of closing) await close();
  });
}

await main().catch((error: unknown) => endWithError(error, program.name()));
