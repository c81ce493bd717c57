#!/usr/bin/env node
import { SvcClient, type ModelId } from '@svc-asr/sdk';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { startBridge } from './bridge.ts';

const program = new Command('svc-telephony')
  .description(
    'Transcribes telephone calls.\n\n' +
      'Reads SVC_BASE_URL and SVC_API_KEY, and SVC_TELEPHONY_TOKEN, which WebSockets must carry (/twilio/TOKEN).\n' +
      'Writes one JSON object per line to the standard output: started, interim, final, dtmf, ended.',
  )
  .addOption(
    new Option('--language <language>', 'language of the calls')
      .choices(['ki', 'luo'])
      .default('ki'),
  )
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--port <number>', 'port for Twilio, FreeSWITCH and jambonz', wholeNumber, 3001)
  .option('--audiosocket-port <number>', "port for Asterisk's AudioSocket", wholeNumber, 9092)
  .option('--silence-ms <number>', 'silence that ends an utterance', wholeNumber, 700)
  .addHelpText(
    'after',
    `
  /twilio        Twilio Media Streams
  /freeswitch    FreeSWITCH mod_audio_fork; ?rate=16000&channels=2
  /jambonz       jambonz custom speech`,
  );

interface Options {
  readonly language: 'ki' | 'luo';
  readonly host: string;
  readonly port: number;
  readonly audiosocketPort: number;
  readonly silenceMs: number;
}

const MODELS: Readonly<Record<Options['language'], ModelId>> = {
  ki: 'svc-asr-kikuyu-v1',
  luo: 'svc-asr-dholuo-v1',
};

function wholeNumber(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('Use a whole number.');
}

async function main(): Promise<void> {
  const options = program.exitOverride().parse().opts<Options>();
  const bridge = await startBridge({
    client: new SvcClient(),
    model: MODELS[options.language],
    host: options.host,
    port: options.port,
    audioSocketPort: options.audiosocketPort,
    silenceMs: options.silenceMs,
    token: process.env['SVC_TELEPHONY_TOKEN'] || null,
    onEvent: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
  });
  process.stderr.write(`${bridge.url}, AudioSocket on port ${bridge.audioSocketPort}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void bridge.stop());
  }
}

await main().catch((error: unknown) => {
  // Commander has printed the help or the error.
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`svc-telephony: ${message}\nTry: svc-telephony --help\n`);
  process.exitCode = 2;
});
