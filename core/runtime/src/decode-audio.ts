import type { ChildProcess } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import {
  detectFormat,
  FORMAT_NAMES,
  HEAD_BYTES,
  KIND_BYTES,
  type FileFormat,
} from './audio-formats.ts';
import { readInputRate } from './audio-input-rate.ts';
import { startSandboxed } from './audio-sandbox.ts';
import type { SpooledFile } from './spool-audio.ts';

export interface DecodeFileOptions {
  readonly signal: AbortSignal;
  readonly isLive?: boolean;
  readonly ffmpeg: string;
  /** Writes a file that ffmpeg can't read from a pipe to the disk. */
  readonly spool: (source: AsyncIterable<Uint8Array>) => Promise<SpooledFile>;
  /** The longest audio. */
  readonly audioMs: number;
  /** How long ffmpeg may produce nothing although it has input. */
  readonly stallMs: number;
}

const BYTES_PER_MS = 32;
const FRAME_BYTES = 100 * BYTES_PER_MS;
const STALL_LOOK_MS = 500;
/** Speech needs more. The telephone has 8000. */
const RATE_HZ_MIN = 4_000;
/** A table of a file can claim any size. */
const ALLOCATION_BYTES_MAX = 64 * 1024 * 1024;
/** Exit codes of a shell: not executable, and not found. */
const NO_PROGRAM: ReadonlySet<number> = new Set([126, 127]);
/** `info` names the sample rate of the input on the standard error. */
const COMMON = `-nostdin -hide_banner -nostats -v info -threads 1 -max_alloc ${ALLOCATION_BYTES_MAX}`;
/** ffmpeg would wait for 5 s of audio to analyse it. With `nobuffer` it would drop them as well. */
const WITHOUT_ANALYSIS = '-analyzeduration 0 -probesize 32';
const TO_PCM = '-map 0:a:0 -vn -sn -dn -threads 1 -f s16le -ar 16000 -ac 1 pipe:1';

/** A file that can't be transcribed, or not whole. */
export class AudioFileError extends Error {
  readonly code: keyof typeof PROBLEMS;

  constructor(code: keyof typeof PROBLEMS, message: string = PROBLEMS[code]) {
    super(message);
    this.code = code;
  }
}

/** What happened, then what to do. */
const PROBLEMS = {
  unsupported_audio_format: `The file is not audio in a known format. Send ${FORMAT_NAMES}.`,
  unreadable_audio:
    'The audio could not be decoded. Check that the file plays, and that it has an audio track.',
  unsupported_sample_rate:
    'The sample rate of the audio is too low for speech. Send 8000 Hz or more, best 16000.',
  audio_too_long: 'The audio is too long. Split it into shorter files.',
  ffmpeg_missing:
    'This server cannot read files, because ffmpeg cannot be started. Tell its operator, or send PCM.',
} as const;

/**
 * Decodes one file: bytes as they arrive, or a file of `spool`. ffmpeg sees only the reader that fits the first bytes, and
 * no protocol but the pipe or the one file.
 */
export async function* decodeFile(
  source: AsyncIterable<Uint8Array> | FileHandle,
  options: DecodeFileOptions,
): AsyncGenerator<Buffer, void> {
  if (!(Symbol.asyncIterator in source)) {
    yield* run({ file: source, format: known(await fileHead(source)) }, options);
    return;
  }
  const input = source[Symbol.asyncIterator]();
  const head = await readHead(input);
  const format = known(head);
  const whole = continued(head, input);
  const file = format.seeks ? await options.spool(whole) : null;
  try {
    yield* run({ file: file?.handle ?? null, format, bytes: whole }, options);
  } finally {
    await file?.close();
    await input.return?.();
  }
}

function known(head: Buffer): FileFormat {
  const format = detectFormat(head);
  if (format === null) throw new AudioFileError('unsupported_audio_format');
  return format;
}

async function fileHead(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

async function* run(
  input: {
    readonly format: FileFormat;
    readonly file: FileHandle | null;
    readonly bytes?: AsyncIterable<Uint8Array>;
  },
  options: DecodeFileOptions,
): AsyncGenerator<Buffer, void> {
  const { format, file, bytes = null } = input;
  options.signal.throwIfAborted();
  const { demuxer } = format;
  const args = argumentsFor({ demuxer, fromFile: file !== null, isLive: options.isLive ?? false });
  const decoder = startSandboxed({ program: options.ffmpeg, args, fd: file?.fd ?? null });
  yield* decoded(decoder, file === null ? bytes : null, options);
}

function argumentsFor(input: {
  readonly demuxer: string;
  readonly fromFile: boolean;
  readonly isLive: boolean;
}): string[] {
  const { demuxer, fromFile, isLive } = input;
  const from = fromFile
    ? '-protocol_whitelist file -i file:/dev/fd/3'
    : '-protocol_whitelist pipe -i pipe:0';
  const live = isLive ? WITHOUT_ANALYSIS : '';
  return `${COMMON} ${live} -f ${demuxer} ${from} ${TO_PCM}`.split(' ').filter(Boolean);
}

async function* decoded(
  decoder: ChildProcess,
  input: AsyncIterable<Uint8Array> | null,
  options: DecodeFileOptions,
): AsyncGenerator<Buffer, void> {
  const { signal, audioMs } = options;
  const { stdin, stdout, stderr } = decoder;
  if (stdin === null || stdout === null || stderr === null) {
    throw new Error('The decoder has no pipes.');
  }
  const exit = exitCode(decoder);
  const inputRate = readInputRate(stderr);
  const kill = (): void => void decoder.kill('SIGKILL');
  const watch = new StallWatch(options.stallMs, kill);
  signal.addEventListener('abort', kill, { once: true });
  const feeding = feed(input, stdin, watch);
  // A broken body is reported below.
  feeding.catch(kill);
  try {
    let bytes = 0;
    for await (const frame of inFrames(watch.reads(stdout))) {
      if (bytes === 0 && (await inputRate) < RATE_HZ_MIN) {
        throw new AudioFileError('unsupported_sample_rate');
      }
      bytes += frame.byteLength;
      if (bytes > audioMs * BYTES_PER_MS) throw tooLong(audioMs);
      yield frame;
    }
    signal.throwIfAborted();
    await feeding;
    const code = await exit;
    if (code !== null && NO_PROGRAM.has(code)) throw new AudioFileError('ffmpeg_missing');
    if (code !== 0 || bytes === 0) {
      // At a rate of 1 Hz ffmpeg may need more memory than it gets.
      const rateHz = await inputRate;
      const isTooLow = bytes === 0 && rateHz > 0 && rateHz < RATE_HZ_MIN;
      throw new AudioFileError(isTooLow ? 'unsupported_sample_rate' : 'unreadable_audio');
    }
  } finally {
    kill();
    watch.stop();
    signal.removeEventListener('abort', kill);
    // The process is gone, or will be: nothing of it outlives the request.
    await exit.catch(() => undefined);
  }
}

function tooLong(audioMs: number): AudioFileError {
  const hours = audioMs / 3_600_000;
  const message = `The audio is longer than ${hours} hours. Split it into shorter files.`;
  return new AudioFileError('audio_too_long', message);
}

async function exitCode(decoder: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    decoder.on('error', () => {
      decoder.stdin?.destroy();
      resolve(null);
    });
    decoder.on('close', resolve);
  });
}

/** Writes at ffmpeg's pace. If the input is broken ffmpeg may exit first, and its exit code reports it. */
async function feed(
  input: AsyncIterable<Uint8Array> | null,
  stdin: Writable,
  watch: StallWatch,
): Promise<void> {
  let goOn: (() => void) | null = null;
  for (const event of ['drain', 'error', 'close']) stdin.on(event, () => goOn?.());
  for await (const bytes of input ?? []) {
    if (stdin.destroyed) break;
    if (stdin.write(bytes)) continue;
    watch.hasInput = true;
    await new Promise<void>((resolve) => {
      goOn = resolve;
      if (stdin.destroyed) resolve();
    });
    watch.progress();
    watch.hasInput = false;
  }
  stdin.end();
  watch.progress();
  watch.hasInput = true;
}

/** Kills a decoder that has input, and a reader who waits, but neither takes input nor gives output. */
class StallWatch {
  hasInput = false;
  #isAwaited = false;
  #progressAtMs = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(stallMs: number, onStall: () => void) {
    this.#timer = setInterval(() => {
      const waitedMs = performance.now() - this.#progressAtMs;
      if (this.hasInput && this.#isAwaited && waitedMs > stallMs) onStall();
    }, STALL_LOOK_MS);
  }

  progress(): void {
    this.#progressAtMs = performance.now();
  }

  async *reads(stdout: Readable): AsyncGenerator<Buffer> {
    this.#isAwaited = true;
    for await (const pcm of stdout as AsyncIterable<Buffer>) {
      this.#isAwaited = false;
      yield pcm;
      this.progress();
      this.#isAwaited = true;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Frames of 100 ms, so that the transcript doesn't depend on the pace at which the input arrived. */
async function* inFrames(pcm: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const bytes of pcm) {
    rest = Buffer.concat([rest, bytes]);
    let at = 0;
    for (; at + FRAME_BYTES <= rest.byteLength; at += FRAME_BYTES) {
      yield rest.subarray(at, at + FRAME_BYTES);
    }
    rest = rest.subarray(at);
  }
  // An odd byte is half a sample.
  const even = rest.byteLength - (rest.byteLength % 2);
  if (even > 0) yield rest.subarray(0, even);
}

async function readHead(input: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.byteLength < HEAD_BYTES) {
    const next = await input.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
    // A live stream may send its next bytes much later.
    if (head.byteLength >= KIND_BYTES && detectFormat(head) !== null) break;
  }
  return head;
}

async function* continued(
  head: Buffer,
  input: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head;
  for (let next = await input.next(); next.done !== true; next = await input.next()) {
    yield next.value;
  }
}
