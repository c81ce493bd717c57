import { openStream, type SvcStream } from '@svc-asr/sdk/stream';
import { Option, type Command } from 'commander';
import { EXIT, type Context, type ExitCode, type RunCommand } from '../command.ts';
import { createSession } from '../create-session.ts';
import { afterFirstAudio, Feeder, TURN_SILENCE_MS } from '../bulk/feeder.ts';
import {
  addRecognitionOptions,
  readRecognitionOptions,
  reportKeyterms,
  type RecognitionOptions,
} from '../recognition-options.ts';
import { languageOption, modelFor } from '../languages.ts';
import { findRecorder, MediaError, record } from '../media.ts';
import { openClient } from '../settings.ts';
import { clock, tail, type Terminal } from '../terminal.ts';
import { LIVE_FORMATS, liveRenderer, type LiveFormat } from '../transcript-formats.ts';

interface ListenOptions extends RecognitionOptions {
  readonly language?: string;
  readonly device?: string;
  readonly stdin?: true;
  readonly keepSilence?: true;
  readonly json?: true;
  readonly format: LiveFormat;
}

export function addListenCommand(program: Command, run: RunCommand): void {
  const command = program
    .command('listen')
    .summary('Transcribe the microphone, live')
    .description(
      'Shows the transcript while you speak. Ctrl-C ends it. Silence is not sent, so it is not charged.',
    )
    .addOption(languageOption())
    .option('--device <name>', 'microphone, as arecord or ffmpeg names it')
    .option('--stdin', 'read 16 kHz mono 16-bit PCM from standard input instead')
    .option('--keep-silence', 'send silence too')
    .addOption(
      new Option('-f, --format <format>', 'print lines, or one cue per turn')
        .choices(LIVE_FORMATS)
        .default('text')
        .conflicts('json'),
    )
    .option('--json', 'print one JSON event per line')
    .addHelpText(
      'after',
      `
Examples:
  svc listen -l ki
  svc listen -l luo --device hw:1,0
  svc listen -l ki -f srt > talk.srt
  ffmpeg -re -i radio.mp3 -f s16le -ar 16000 -ac 1 - | svc listen -l ki --stdin`,
    )
    .action((options: ListenOptions) => run((context) => listen(context, options)));
  addRecognitionOptions(command);
}

async function listen(context: Context, options: ListenOptions): Promise<ExitCode> {
  const { terminal } = context;
  const model = modelFor(options.language, context);
  const recognition = await readRecognitionOptions(options);
  // Report a missing key before anyone speaks.
  await openClient(context.env);
  const source = await afterFirstAudio(await openSource(context, options));
  if (source === null) {
    terminal.note('No audio was received, so nothing was charged.');
    return context.interrupted.aborted ? EXIT.interrupted : EXIT.failed;
  }
  context.interrupted.addEventListener('abort', () => {
    terminal.note(
      terminal.style('dim', 'Stopping: waiting for the last words. Ctrl-C again stops at once.'),
    );
  });
  const stream = openStream({
    getSession: ({ signal }) => createSession(context, { model, maxAudioSeconds: 300 }, signal),
    endpointing: { silenceMs: TURN_SILENCE_MS },
    ...recognition,
  });
  reportKeyterms(stream, recognition, (text) => terminal.note(text));
  show(terminal, stream, options.json === true ? 'json' : options.format);
  const feeder = new Feeder(stream, { skipSilence: options.keepSilence !== true });
  try {
    for await (const bytes of source) await feeder.push(bytes);
    await feeder.end();
    const { sessions } = await stream.finish();
    const charged = sessions.reduce((sum, { billableMs }) => sum + (billableMs ?? 0), 0);
    const facts = `${clock(feeder.passedMs)} of audio · ${charged / 1000} s charged`;
    terminal.note(terminal.style('dim', facts));
    return EXIT.done;
  } finally {
    await stream.close();
  }
}

async function openSource(
  { stdin, interrupted, terminal }: Context,
  options: ListenOptions,
): Promise<AsyncIterable<Uint8Array>> {
  if (options.stdin === true) return untilAborted(stdin, interrupted);
  const recorder = await findRecorder();
  if (recorder === null) {
    throw new MediaError(
      'No recorder found. Install arecord (alsa-utils), sox or ffmpeg, or use --stdin.',
    );
  }
  terminal.note(terminal.style('dim', `Listening with ${recorder.program}. Ctrl-C ends.`));
  return record(recorder, options.device, interrupted);
}

async function* untilAborted(
  input: AsyncIterable<Uint8Array> & { destroy(): void },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const stop = (): void => input.destroy();
  signal.addEventListener('abort', stop);
  try {
    yield* input;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function show(terminal: Terminal, stream: SvcStream, format: LiveFormat | 'json'): void {
  const json = format === 'json';
  const live = liveRenderer(json ? 'text' : format);
  if (live.head !== null) terminal.print(live.head);
  stream.on('delta', (delta) => {
    if (json) terminal.json(delta);
    else terminal.live([terminal.style('dim', tail(delta.text, terminal.columns - 1))]);
  });
  stream.on('final', (final) => {
    if (json) terminal.json(final);
    else for (const text of live.render(final)) terminal.print(text);
  });
  stream.on('status', (status) => {
    const hint = status.hint === undefined ? '' : ` ${status.hint}`;
    if (status.code === 'suspicious_audio')
      terminal.note(terminal.style('yellow', status.message + hint));
  });
  stream.on('reconnecting', ({ why, close }) => {
    if (why !== 'failover') return;
    const note = `The session failed (${close.reason}). No audio is lost; reconnecting ...`;
    terminal.note(terminal.style('yellow', note));
  });
}
