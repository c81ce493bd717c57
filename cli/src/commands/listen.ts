import { openStream, type SvcStream } from '@svc-asr/sdk/stream';
import { EXIT, flag, text, type Command, type ExitCode, type Invocation } from '../command.ts';
import { chosenModel } from '../languages.ts';
import { findRecorder, MediaError, record } from '../media.ts';
import { createSession } from '../sessions.ts';
import { openClient } from '../settings.ts';
import { clock, tail } from '../terminal.ts';
import { Feeder, whenHeard } from '../transcriber.ts';

export const listenCommand: Command = {
  about: 'Transcribe the microphone, live',
  help: `Usage: svc listen --language ki|luo [options]

Shows what is said while it is said; Ctrl-C ends it. Silence is not sent, so it
is not charged.

Options:
  -l, --language LANG   ki (Kikuyu) or luo (Dholuo); or set SVC_LANGUAGE
      --device NAME     a microphone by its name for arecord or ffmpeg
      --stdin           read 16 kHz mono 16-bit PCM from standard input instead
      --keep-silence    send silence too
      --json            one JSON event a line

Examples:
  svc listen -l ki
  svc listen -l luo --device hw:1,0
  ffmpeg -i radio.mp3 -f s16le -ar 16000 -ac 1 - | svc listen -l ki --stdin`,
  options: {
    language: { type: 'string', short: 'l' },
    device: { type: 'string' },
    stdin: { type: 'boolean' },
    'keep-silence': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run,
};

async function run(invocation: Invocation): Promise<ExitCode> {
  const model = chosenModel(invocation);
  // A key that is missing is told of before anybody has spoken.
  await openClient(invocation.env);
  const source = await whenHeard(await openSource(invocation));
  const stream = openStream({
    getSession: ({ signal }) => createSession(invocation, { model, maxAudioSeconds: 300 }, signal),
  });
  show(invocation, stream);
  const feeder = new Feeder(stream, { skipSilence: !flag(invocation, 'keep-silence') });
  try {
    for await (const bytes of source) await feeder.push(bytes);
    await feeder.end();
    const { sessions } = await stream.finish();
    const charged = sessions.reduce((sum, { billableMs }) => sum + (billableMs ?? 0), 0);
    const facts = `${clock(feeder.passedMs)} heard · ${charged / 1000} s charged`;
    invocation.terminal.note(invocation.terminal.style('dim', facts));
    return EXIT.done;
  } finally {
    await stream.close();
  }
}

async function openSource(invocation: Invocation): Promise<AsyncIterable<Uint8Array>> {
  const { interrupted, terminal } = invocation;
  if (flag(invocation, 'stdin')) return untilAborted(process.stdin, interrupted);
  const recorder = await findRecorder();
  if (recorder === null) {
    throw new MediaError(
      'No recorder found. Install arecord (alsa-utils), sox or ffmpeg, or use --stdin.',
    );
  }
  terminal.note(terminal.style('dim', `Listening with ${recorder.program}. Ctrl-C ends.`));
  return record(recorder, text(invocation, 'device'), interrupted);
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

function show(invocation: Invocation, stream: SvcStream): void {
  const { terminal } = invocation;
  const json = flag(invocation, 'json');
  stream.on('delta', (delta) => {
    if (json) terminal.json(delta);
    else terminal.live([terminal.style('dim', tail(delta.text, terminal.columns - 1))]);
  });
  stream.on('final', (final) => {
    if (json) terminal.json(final);
    else if (final.text !== '') terminal.print(final.text);
  });
  stream.on('status', (status) => {
    const hint = status.hint === undefined ? '' : ` ${status.hint}`;
    if (status.code === 'suspicious_audio')
      terminal.note(terminal.style('yellow', status.message + hint));
  });
  stream.on('reconnecting', ({ why, close }) => {
    if (why !== 'failover') return;
    const note = `The session failed (${close.reason}). Nothing is lost; going on with a new one ...`;
    terminal.note(terminal.style('yellow', note));
  });
}
