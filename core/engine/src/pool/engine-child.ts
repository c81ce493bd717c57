import { spawn, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { Socket } from 'node:net';
import { EngineFailed, type EngineFailure } from '../engine.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import { noFigures, readFigures, type DecodeFigures } from './decode-figures.ts';
import { encodeFrame, encodeOpen, FRAME, FrameReader, type Frame } from './frames.ts';
import { InvalidAnswer } from '../recogniser-answer.ts';
import { PooledStream } from './pooled-stream.ts';
import { readProcessState, WATCH_INTERVAL_MS, Watchdog } from './watchdog.ts';

/** 1 B parameters took 75 s on a machine that was five times overloaded. */
const START_MS_MAX = 180_000;
/** A child has nothing to save when it stops. */
const LEAVE_MS_MAX = 1_000;
const PARENT_FD = 3;
/** Same extension as this file: source in development, compiled in an image. */
const CHILD_MAIN = new URL(`./child-main${extname(import.meta.filename)}`, import.meta.url);

interface ChildInput {
  readonly config: string;
  readonly buffers: ChunkBuffers;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Whether another child serves clearly fewer streams. */
  readonly isCrowded: (child: EngineChild) => boolean;
}

/**
 * Another user cannot read the parent's memory or environment in /proc. Node.js can change the user of
 * a child but not drop inherited capabilities, with which the child could change back. `setpriv` does
 * both and becomes the child.
 */
function commandFor({ user, config }: ChildInput): [string, ...string[]] {
  const child: [string, ...string[]] = [
    process.execPath,
    '--expose-gc',
    // It decodes in native memory and allocates little else.
    '--max-semi-space-size=1',
    CHILD_MAIN.pathname,
    config,
  ];
  if (user === undefined) return child;
  const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  return [
    'setpriv',
    ...identity,
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--no-new-privs',
    ...child,
  ];
}

/** With a compile cache, a child need not strip the types of its source, which takes 18 MB. */
function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}

interface Opening {
  readonly build: string;
  readonly resolve: (stream: PooledStream) => void;
  readonly reject: (reason: unknown) => void;
}

/** One child process and the streams in it. */
export class EngineChild {
  readonly pid: number;
  /** Resolves when its models are loaded. Rejects if it exits before that. */
  readonly ready: Promise<void>;
  /** Resolves when it has stopped serving and its streams have received their error. */
  readonly gone: Promise<EngineFailure>;
  readonly exited: Promise<void>;
  readonly #input: ChildInput;
  readonly #process: ChildProcess;
  readonly #socket: Socket;
  readonly #watchdog: Watchdog;
  readonly #streams = new Map<number, PooledStream>();
  readonly #opening = new Map<number, Opening>();
  readonly #startTimer: NodeJS.Timeout;
  #watchTimer: NodeJS.Timeout | undefined;
  readonly #ready = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<EngineFailure>();
  #state: 'starting' | 'serving' | 'gone' = 'starting';
  #slots = 0;
  #figures = noFigures();
  #lastId = 0;

  constructor(input: ChildInput) {
    this.#input = input;
    const [command, ...args] = commandFor(input);
    this.#process = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      // The child parses untrusted audio, so it gets none of our secrets.
      env: childEnvironment(),
    });
    // Without a listener a failed spawn would crash this process. A missing pid reports the failure.
    this.#process.on('error', () => {});
    const { pid } = this.#process;
    const socket = this.#process.stdio[PARENT_FD];
    if (pid === undefined || !(socket instanceof Socket)) throw new EngineFailed();
    this.pid = pid;
    this.#socket = socket;
    this.#watchdog = new Watchdog(() => readProcessState(pid));
    this.ready = this.#ready.promise;
    this.gone = this.#gone.promise;
    this.#startTimer = setTimeout(() => this.#giveUp('child_stalled'), START_MS_MAX);
    this.exited = new Promise((resolve) => this.#process.once('exit', () => resolve()));
    this.#listen();
  }

  get available(): boolean {
    return this.#state === 'serving';
  }

  /** How many live streams it can serve with its weights, as it measured while loading. */
  get slots(): number {
    return this.#slots;
  }

  /** The child's figures, at most a quarter of a second old. */
  get figures(): DecodeFigures {
    return this.#figures;
  }

  get active(): number {
    return this.#streams.size + this.#opening.size;
  }

  get lagMs(): number {
    const nowMs = performance.now();
    let lagMs = 0;
    for (const stream of this.#streams.values()) lagMs = Math.max(lagMs, stream.waitedMs(nowMs));
    return lagMs;
  }

  /** Waits for the child's response, so an open stream is one that the child serves. */
  open(input: {
    readonly model: number;
    readonly build: string;
    readonly replayBytes: number;
    readonly signal: AbortSignal;
  }): Promise<PooledStream> {
    const { model, build, replayBytes, signal } = input;
    const id = ++this.#lastId;
    const opened = Promise.withResolvers<PooledStream>();
    const abort = (): void => {
      this.#opening.delete(id);
      this.#send(FRAME.close, id);
      opened.reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    const settled = (): void => signal.removeEventListener('abort', abort);
    this.#opening.set(id, {
      build,
      resolve: (stream) => {
        settled();
        opened.resolve(stream);
      },
      reject: (reason) => {
        settled();
        opened.reject(reason);
      },
    });
    this.#socket.write(encodeOpen({ stream: id, model, replayBytes }));
    return opened.promise;
  }

  /** Ends the streams with that reason and then the process. */
  async close(reason: EngineFailure): Promise<void> {
    this.#leave(reason);
    this.#socket.destroy();
    const killer = setTimeout(() => this.#process.kill('SIGKILL'), LEAVE_MS_MAX);
    await this.exited;
    clearTimeout(killer);
  }

  #listen(): void {
    const reader = new FrameReader((frame) => this.#handle(frame));
    this.#socket.on('data', (bytes: Buffer) => {
      if (this.#state === 'gone') return;
      this.#watchdog.responded();
      try {
        reader.push(bytes);
      } catch {
        // An invalid frame or answer means that the child is broken.
        this.#giveUp('child_died');
      }
    });
    // The exit event reports it.
    this.#socket.on('error', () => {});
    this.#process.once('exit', () => this.#leave('child_died'));
  }

  #handle(frame: Frame): void {
    if (frame.stream > this.#lastId) throw new InvalidAnswer('an unknown stream');
    switch (frame.type) {
      case FRAME.ready:
        this.#start(frame.credits);
        break;
      case FRAME.opened:
        this.#opened(frame.stream);
        break;
      case FRAME.decoded:
      case FRAME.final:
      case FRAME.peeked:
        this.#streams.get(frame.stream)?.receive(frame);
        break;
      case FRAME.pong:
        this.#figures = readFigures(frame.payload.toString());
        break;
      default:
        throw new InvalidAnswer('an unknown frame');
    }
  }

  #start(measuredSlots: number): void {
    if (this.#state !== 'starting') throw new InvalidAnswer('a second start');
    if (measuredSlots === 0) throw new InvalidAnswer('a start without slots');
    this.#slots = measuredSlots;
    clearTimeout(this.#startTimer);
    this.#state = 'serving';
    this.#watchTimer = setInterval(() => this.#watch(), WATCH_INTERVAL_MS);
    this.#ready.resolve();
  }

  #watch(): void {
    if (this.#watchdog.stalled()) this.#giveUp('child_stalled');
    else this.#send(FRAME.ping, 0);
  }

  #opened(id: number): void {
    const opening = this.#opening.get(id);
    if (opening === undefined) return;
    this.#opening.delete(id);
    const stream = new PooledStream({
      id,
      childPid: this.pid,
      build: opening.build,
      buffers: this.#input.buffers,
      isCrowded: () => this.#input.isCrowded(this),
      send: (type, stream, utterance) => this.#send(type, stream, utterance),
      sendKeyterms: (utterance, terms) => this.#sendKeyterms(id, utterance, terms),
      sendChunk: (buffer, bytes) => this.#sendChunk(buffer, bytes),
      release: () => this.#streams.delete(id),
    });
    this.#streams.set(id, stream);
    opening.resolve(stream);
  }

  #send(type: number, stream: number, utterance = 0): void {
    if (this.#state !== 'gone') this.#socket.write(encodeFrame({ type, stream, utterance }));
  }

  #sendKeyterms(stream: number, utterance: number, terms: readonly string[]): void {
    if (this.#state === 'gone') return;
    const header = { type: FRAME.keyterms, stream, utterance };
    this.#socket.write(encodeFrame(header, JSON.stringify(terms)));
  }

  #sendChunk(buffer: Buffer, bytes: number): void {
    if (this.#state === 'gone') return;
    this.#socket.write(buffer.subarray(0, bytes), () => this.#input.buffers.give(buffer));
  }

  #giveUp(reason: EngineFailure): void {
    this.#leave(reason);
    this.#process.kill('SIGKILL');
  }

  #leave(reason: EngineFailure): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    clearTimeout(this.#startTimer);
    clearInterval(this.#watchTimer);
    this.#ready.reject(new EngineFailed());
    for (const { reject } of this.#opening.values()) reject(new EngineFailed());
    this.#opening.clear();
    for (const stream of this.#streams.values()) stream.fail(reason);
    this.#gone.resolve(reason);
  }
}
