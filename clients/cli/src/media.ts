import { spawn } from 'node:child_process';
import { PassThrough, pipeline } from 'node:stream';
import { AUDIO } from '@svc-asr/protocol/constants.ts';

/** Reads audio with external programs, as 16 kHz mono PCM. */

const PCM = ['-f', 's16le', '-ar', String(AUDIO.sampleRateHz), '-ac', String(AUDIO.channels)];

/**
 * Keeps the terminal's Ctrl-C from a program. This process ends it, after it has taken the audio it needs. Windows
 * would open a window.
 */
const OWN_GROUP = { detached: process.platform !== 'win32' };

/** A recorder that nobody reads drops audio, so it is read for longer than a stream is retried without a connection. */
const RECORDED_BYTES_MAX = 150 * AUDIO.sampleRateHz * AUDIO.bytesPerSample;

export class MediaError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MediaError';
  }
}

/** Names a local file for ffmpeg, which takes a path that starts with `http:` for an address. */
function localInput(path: string): string[] {
  // Without this list a playlist file could make ffmpeg open network addresses.
  return ['-protocol_whitelist', 'file,pipe,crypto,data', '-i', `file:${path}`];
}

export async function* decodeFile(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield* runForAudio({
    program: 'ffmpeg',
    args: ['-nostdin', '-v', 'error', ...localInput(path), '-vn', ...PCM, 'pipe:1'],
    signal,
    readAhead: 65_536,
    explain: (line) => `No audio found in this file (${line.replace(`file:${path}: `, '')}).`,
  });
}

/** Returns null if ffprobe can't determine the duration. */
export async function durationMs(path: string): Promise<number | null> {
  const fields = ['-show_entries', 'format=duration', '-of', 'csv=p=0'];
  const args = ['-v', 'error', ...fields, ...localInput(path)];
  const probe = spawn('ffprobe', args, { stdio: ['ignore', 'pipe', 'ignore'], ...OWN_GROUP });
  let output = '';
  probe.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  await new Promise((resolve) => {
    probe.on('close', resolve);
    probe.on('error', resolve);
  });
  const seconds = Number.parseFloat(output);
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : null;
}

interface Recorder {
  readonly program: string;
  readonly args: (device: string | undefined) => string[];
}

const RECORDERS: readonly Recorder[] = [
  {
    program: 'arecord',
    args: (device) => [
      ...(device === undefined ? [] : ['-D', device]),
      '-q',
      '-t',
      'raw',
      '-f',
      'S16_LE',
      '-r',
      '16000',
      '-c',
      '1',
    ],
  },
  {
    program: 'rec',
    args: () => ['-q', '-t', 'raw', '-e', 'signed', '-b', '16', '-r', '16000', '-c', '1', '-'],
  },
  {
    program: 'ffmpeg',
    args: (device) => {
      const [system, usual] =
        process.platform === 'darwin' ? ['avfoundation', ':0'] : ['pulse', 'default'];
      return ['-nostdin', '-v', 'error', '-f', system, '-i', device ?? usual, ...PCM, 'pipe:1'];
    },
  },
];

export async function findRecorder(): Promise<Recorder | null> {
  for (const recorder of RECORDERS) if (await isInstalled(recorder.program)) return recorder;
  return null;
}

export async function* record(
  recorder: Recorder,
  device: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { program } = recorder;
  yield* runForAudio({
    program,
    args: recorder.args(device),
    signal,
    readAhead: RECORDED_BYTES_MAX,
    explain: (line) =>
      `No audio from the microphone. Check that it is connected, or choose another with --device NAME.\n${line}`,
  });
}

export function isInstalled(program: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, ['-version'], { stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.kill();
      resolve(true);
    });
  });
}

/** Yields a program's standard output. Throws its last error line if it fails. Ends without an error on abort. */
async function* runForAudio(input: {
  program: string;
  args: readonly string[];
  signal: AbortSignal;
  /** How many bytes are read before they are asked for. */
  readAhead: number;
  /** Builds the message from the last line of standard error. */
  explain: (line: string) => string;
}): AsyncGenerator<Uint8Array> {
  const { program, args, signal, readAhead, explain } = input;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...OWN_GROUP });
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop);
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    errorOutput = (errorOutput + piece).slice(-2_000);
  });
  const ended = new Promise<number | 'missing'>((resolve) => {
    child.on('error', () => resolve('missing'));
    child.on('close', (code) => resolve(code ?? 1));
  });
  try {
    const ahead = new PassThrough({ highWaterMark: readAhead });
    // The reader gets the error.
    yield* pipeline(child.stdout, ahead, () => undefined);
    const code = await ended;
    if (code === 'missing') {
      throw new MediaError(
        `${program} is not installed. Debian: apt-get install ffmpeg alsa-utils.`,
      );
    }
    if (code !== 0 && !signal.aborted) throw new MediaError(explain(lastLine(errorOutput)));
  } finally {
    signal.removeEventListener('abort', stop);
    child.kill();
  }
}

function lastLine(errorOutput: string): string {
  return errorOutput.trim().split('\n').at(-1)?.trim() || 'no reason given';
}
