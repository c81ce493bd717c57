import { access, mkdir, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { SvcError, type SvcClient } from '@svc-asr/sdk';
import type { Transcript } from '@svc-asr/sdk/stream';
import {
  EXIT,
  flag,
  text,
  UsageError,
  type Command,
  type ExitCode,
  type Invocation,
} from '../command.ts';
import { createInTurn, Turns } from '../concurrency.ts';
import { exitCodeOf, explain } from '../explain.ts';
import { ENDINGS, FORMATS, render, type Format } from '../formats.ts';
import { chosenModel } from '../languages.ts';
import { decodeFile, durationMs } from '../media.ts';
import { Board } from '../progress.ts';
import { openClient } from '../settings.ts';
import { clock } from '../terminal.ts';
import { BrokenOff, transcribe } from '../transcriber.ts';

const JOBS_MAX = 32;
const SESSION_SECONDS = 300;

export const transcribeCommand: Command = {
  about: 'Transcribe audio and video files',
  help: `Usage: svc transcribe FILE... --language ki|luo [options]

Transcribes anything ffmpeg can read. Several files run at once, as many as the
account allows.

Options:
  -l, --language LANG   ki (Kikuyu) or luo (Dholuo); or set SVC_LANGUAGE
  -f, --format FORMAT   text (default), json, srt, vtt
  -o, --out FOLDER      one file for each in FOLDER, instead of standard output
  -j, --jobs N          how many at once, 1 to ${JOBS_MAX} (default 4)
      --skip-silence    leave long silence out: what is not sent is not charged
      --json            the same as --format json, one line for each file

Examples:
  svc transcribe interview.mp3 -l ki
  svc transcribe *.wav -l luo -f srt -o subtitles/
  svc transcribe meeting.m4a -l ki --skip-silence --json | jq .text`,
  options: {
    language: { type: 'string', short: 'l' },
    format: { type: 'string', short: 'f' },
    out: { type: 'string', short: 'o' },
    jobs: { type: 'string', short: 'j' },
    'skip-silence': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  takesFiles: true,
  run,
};

async function run(invocation: Invocation): Promise<ExitCode> {
  const files = invocation.words;
  if (files.length === 0) throw new UsageError('Name at least one file.');
  const format = chosenFormat(invocation);
  const model = chosenModel(invocation);
  const turns = new Turns(chosenJobs(invocation));
  const [quick, patient] = await Promise.all([
    openClient(invocation.env, { retriesMax: 0 }),
    openClient(invocation.env),
  ]);
  const folder = text(invocation, 'out');
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const board = new Board(invocation.terminal, files);
  const delivery = new Delivery(invocation.terminal, { files, format, folder });
  const codes = await Promise.all(
    files.map(async (path) => {
      await turns.take();
      try {
        const transcript = await one(invocation, { path, turns, quick, patient, model, board });
        const body = render(format, path, transcript);
        await delivery.deliver(path, body, () => board.done(path, transcript));
        return EXIT.done;
      } catch (error) {
        const interrupted = invocation.interrupted.aborted;
        const cause = error instanceof BrokenOff ? error.cause : error;
        const why = interrupted ? 'Interrupted.' : explain(cause);
        const part = error instanceof BrokenOff ? error.transcript : null;
        const body = part === null ? null : render(format, path, part);
        const extent = part === null ? '' : ` It is written up to ${clock(endOf(part))}.`;
        await delivery.deliver(path, body, () => board.failed(path, why + extent));
        return interrupted ? EXIT.interrupted : exitCodeOf(cause);
      } finally {
        turns.giveBack();
      }
    }),
  );
  board.end();
  // The gravest speaks for all.
  return codes.includes(EXIT.interrupted)
    ? EXIT.interrupted
    : (codes.find((code) => code !== 0) ?? EXIT.done);
}

function endOf({ finals }: Transcript): number {
  return finals.at(-1)?.end_ms ?? 0;
}

interface Job {
  readonly path: string;
  readonly turns: Turns;
  readonly quick: SvcClient;
  readonly patient: SvcClient;
  readonly model: Parameters<SvcClient['sessions']['create']>[0]['model'];
  readonly board: Board;
}

async function one(invocation: Invocation, job: Job): Promise<Transcript> {
  const { path, board } = job;
  await access(path);
  board.started(path, await durationMs(path));
  board.note(path, 'waiting for a session ...');
  const params = { model: job.model, maxAudioSeconds: SESSION_SECONDS };
  return transcribe({
    audio: decodeFile(path, invocation.interrupted),
    skipSilence: flag(invocation, 'skip-silence'),
    signal: invocation.interrupted,
    getSession: ({ signal }) =>
      createInTurn(job.turns, (how) =>
        (how === 'once' ? job.quick : job.patient).sessions.create(params, { signal }),
      ).catch((error: unknown) => {
        if (error instanceof SvcError) board.note(path, error.message);
        throw error;
      }),
    onSent: (ms) => board.sent(path, ms),
    onStream(stream) {
      stream.on('ready', () => board.note(path, ''));
      stream.on('delta', (delta) => board.said(path, delta.text));
      stream.on('reconnecting', ({ why }) => {
        if (why === 'failover') board.note(path, 'the session failed; going on with a new one ...');
      });
    },
  });
}

/** To files as they come; to standard output in the order of the command line, whichever is done first. */
class Delivery {
  readonly #terminal: Invocation['terminal'];
  readonly #wish: { files: readonly string[]; format: Format; folder: string | undefined };
  readonly #ready = new Map<string, { body: string | null; tell: () => void }>();
  #printed = 0;

  constructor(
    terminal: Invocation['terminal'],
    wish: { files: readonly string[]; format: Format; folder: string | undefined },
  ) {
    this.#terminal = terminal;
    this.#wish = wish;
  }

  /** Null: it failed, and there is nothing to wait for. `tell` follows what it tells of. */
  async deliver(path: string, body: string | null, tell: () => void): Promise<void> {
    const { files, format, folder } = this.#wish;
    if (folder !== undefined) {
      const name = basename(path, extname(path)) + ENDINGS[format];
      if (body !== null) await writeFile(join(folder, name), `${body}\n`);
      tell();
      return;
    }
    this.#ready.set(path, { body, tell });
    for (let next = files[this.#printed]; next !== undefined; next = files[this.#printed]) {
      const ready = this.#ready.get(next);
      if (ready === undefined) return;
      const title = files.length === 1 || format === 'json' ? '' : `── ${next}\n`;
      if (ready.body !== null) this.#terminal.print(title + ready.body);
      ready.tell();
      this.#printed += 1;
    }
  }
}

function chosenFormat(invocation: Invocation): Format {
  const wish = flag(invocation, 'json') ? 'json' : (text(invocation, 'format') ?? 'text');
  const format = FORMATS.find((each) => each === wish);
  if (format === undefined) throw new UsageError(`--format is one of ${FORMATS.join(', ')}.`);
  return format;
}

function chosenJobs(invocation: Invocation): number {
  const jobs = Number(text(invocation, 'jobs') ?? 4);
  if (Number.isInteger(jobs) && jobs >= 1 && jobs <= JOBS_MAX) return jobs;
  throw new UsageError(`--jobs is a whole number from 1 to ${JOBS_MAX}.`);
}
