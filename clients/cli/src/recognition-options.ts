import { readFile } from 'node:fs/promises';
import type { StreamOptions, SvcStream } from '@svc-asr/sdk/stream';
import type { Command } from 'commander';
import { UsageError } from './command.ts';

export interface RecognitionOptions {
  readonly keyterms?: string;
  readonly keytermsFile?: string;
  readonly numbers?: true;
}

/** Those of the options that the stream gets. */
export type Recognition = Pick<StreamOptions, 'keyterms' | 'numbers'>;

/** Much more than the service uses. */
const FILE_CHARACTERS_MAX = 16_000;

export function addRecognitionOptions(command: Command): Command {
  return command
    .option('--keyterms <terms>', 'names and words to listen for, separated by commas')
    .option('--keyterms-file <file>', 'the same, one per line')
    .option('--numbers', 'write numbers as digits; JSON has the words too');
}

/** Reads the terms of both options, and leaves out what was not asked for. */
export async function readRecognitionOptions(options: RecognitionOptions): Promise<Recognition> {
  const given = (options.keyterms ?? '').split(',');
  const listed = (await readTerms(options.keytermsFile)).split('\n');
  const keyterms = [...given, ...listed].map((term) => term.trim()).filter((term) => term !== '');
  return {
    ...(keyterms.length === 0 ? {} : { keyterms }),
    ...(options.numbers === true ? { numbers: true } : {}),
  };
}

async function readTerms(path: string | undefined): Promise<string> {
  if (path === undefined) return '';
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) throw new UsageError(`${path} can't be read. Use --keyterms-file FILE.`);
  if (text.length <= FILE_CHARACTERS_MAX) return text;
  throw new UsageError(`${path} is too long. At most 100 keyterms with 1,000 characters are used.`);
}

/** Notes once which terms the service does not use. */
export function reportKeyterms(
  stream: SvcStream,
  { keyterms = [] }: Recognition,
  note: (text: string) => void,
): void {
  const stop = stream.on('config_ack', (event) => {
    if (event.keyterms === undefined) return;
    stop();
    const { refused } = event.keyterms;
    const [first] = refused;
    if (first === undefined) return;
    if (first.reason === 'not_supported') return note('This model does not use keyterms.');
    const names = refused.map(({ index, reason }) => {
      const which = reason === 'too_many' ? ' and all after it' : '';
      return `${keyterms[index] ?? ''}${which} (${reason.replaceAll('_', ' ')})`;
    });
    note(`Keyterms that are not used: ${names.join(', ')}.`);
  });
}
