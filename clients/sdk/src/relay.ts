import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { SvcError } from './errors.ts';
import { RELAY_LIMITS } from './relay-limits.ts';
import type { SvcStream } from './stream/svc-stream.ts';

/** Compressed audio in pieces, cut anywhere: a request's body, the chunks of a MediaRecorder, a file's stream. */
export type AudioSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface RelayOptions {
  /** Default: `ffmpeg` in the PATH. */
  readonly ffmpeg?: string;
  /** Largest input. Default 64 MiB, which is hours of Opus. */
  readonly bytesMax?: number;
  /**
   * Longest audio. Default 600,000, which is 10 minutes. Silence takes hardly any bytes in Opus, so a small file can be
   * hours long, and all of it is charged.
   */
  readonly durationMsMax?: number;
}

const SIGNATURE_BYTES = 4;
const FRAME_BYTES = 3_200;
const BYTES_PER_MS = 32;
/** Decodes while the input arrives, and reads only from standard input. */
const DECODE = '-nostdin -v error -fflags nobuffer -protocol_whitelist pipe -i pipe:0 -vn';
const TO_PCM = '-f s16le -ar 16000 -ac 1 pipe:1';
const ARGUMENTS = `${DECODE} ${TO_PCM}`.split(' ');

/**
 * Decodes OGG/Opus or WebM/Opus (a WhatsApp voice note, MediaRecorder chunks) and writes it to a stream, while it
 * arrives and at the stream's pace. For servers: it runs ffmpeg. Resolves when all audio is written; it neither
 * flushes nor finishes the stream. Audio beyond a limit rejects; what was written before stays written.
 */
export async function relay(
  stream: SvcStream,
  source: AudioSource,
  options: RelayOptions = {},
): Promise<void> {
  const input = withLimit(withSignature(source), options.bytesMax ?? RELAY_LIMITS.bytes);
  const decoder = spawn(options.ffmpeg ?? 'ffmpeg', ARGUMENTS, {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exit = exitCode(decoder);
  exit.catch(() => undefined);
  try {
    const feeding = feed(input, decoder.stdin);
    // Both failures are reported below.
    feeding.catch(() => decoder.kill('SIGKILL'));
    const decoded = inFrames(decoder.stdout);
    const durationMsMax = options.durationMsMax ?? RELAY_LIMITS.durationMs;
    for await (const pcm of withinDuration(decoded, durationMsMax)) await stream.write(pcm);
    await feeding;
    if ((await exit) !== 0) throw problem('unreadable_audio', 'The audio could not be decoded.');
  } finally {
    decoder.kill('SIGKILL');
  }
}

type Decoder = ChildProcessByStdio<Writable, Readable, null>;

async function exitCode(decoder: Decoder): Promise<number | null> {
  return new Promise((resolve, reject) => {
    decoder.on('error', () => {
      decoder.stdin.destroy();
      reject(problem('missing_ffmpeg', 'ffmpeg could not be started. Install it, or pass ffmpeg.'));
    });
    decoder.on('close', resolve);
  });
}

/** Writes at ffmpeg's pace. If the input is broken, ffmpeg may exit first, and its exit code reports it. */
async function feed(input: AsyncIterable<Uint8Array>, stdin: Writable): Promise<void> {
  let goOn: (() => void) | null = null;
  for (const event of ['drain', 'error', 'close']) stdin.on(event, () => goOn?.());
  for await (const bytes of input) {
    if (stdin.destroyed) break;
    if (stdin.write(bytes)) continue;
    await new Promise<void>((resolve) => {
      goOn = resolve;
      if (stdin.destroyed) resolve();
    });
  }
  stdin.end();
}

/** Refuses anything but OGG and WebM before ffmpeg sees it. */
async function* withSignature(source: AudioSource): AsyncGenerator<Uint8Array> {
  let head = new Uint8Array(0);
  let isChecked = false;
  for await (const bytes of source) {
    if (isChecked) {
      yield bytes;
      continue;
    }
    const joined = new Uint8Array(head.byteLength + bytes.byteLength);
    joined.set(head);
    joined.set(bytes, head.byteLength);
    head = joined;
    if (head.byteLength < SIGNATURE_BYTES) continue;
    if (!isOggOrWebm(head)) break;
    isChecked = true;
    yield head;
  }
  if (!isChecked) throw problem('unsupported_audio', 'This is neither OGG nor WebM audio.');
}

function isOggOrWebm(head: Uint8Array): boolean {
  const signature = String.fromCharCode(...head.subarray(0, SIGNATURE_BYTES));
  return signature === 'OggS' || signature === '\u001AE\u00DF\u00A3';
}

async function* withLimit(
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const bytes of source) {
    total += bytes.byteLength;
    if (total > bytesMax)
      throw problem('audio_too_large', `The audio has more than ${bytesMax} bytes.`);
    yield bytes;
  }
}

/** Throws before the frame that exceeds the limit, so that nothing beyond it is charged. */
async function* withinDuration(
  decoded: AsyncIterable<Uint8Array>,
  durationMsMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const pcm of decoded) {
    bytes += pcm.byteLength;
    if (bytes > durationMsMax * BYTES_PER_MS) {
      const message = `The audio is longer than ${durationMsMax / 1000} s. Raise durationMsMax if you expect that.`;
      throw problem('audio_too_long', message);
    }
    yield pcm;
  }
}

/**
 * Frames of 100 ms, however the decoder delivers them: the transcript must not depend on the pace at which the input
 * arrived, and a stream changes sessions only between frames.
 */
async function* inFrames(decoded: Readable): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const pcm of decoded as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, pcm]);
    let at = 0;
    for (; at + FRAME_BYTES <= rest.byteLength; at += FRAME_BYTES) {
      yield rest.subarray(at, at + FRAME_BYTES);
    }
    rest = rest.subarray(at);
  }
  if (rest.byteLength > 0) yield rest;
}

function problem(code: string, message: string): SvcError {
  return new SvcError({ code, message, retryable: false });
}
