import { Socket } from 'node:net';
import { parseChildConfig, type ChildModel } from './child-config.ts';
import { encodeFrame, FRAME, FrameReader, type Frame, type FrameHeader } from './frames.ts';
import { Loaders } from './loaders.ts';
import type { Recognition } from '../recognisers/recognition.ts';
import { Scheduler } from './scheduler.ts';

/** The child process: one recognition thread. It exits with its parent. */
const PARENT_FD = 3;
/** The largest number of credits in one frame. */
const SLOTS_MAX = 65_535;
/**
 * A closed native stream keeps a third of a megabyte until V8 collects its handle. Handles are so small that V8 would
 * let thousands accumulate, so we run the collector after this many. It takes 10 ms.
 */
const COLLECT_EVERY_STREAMS = 64;

// A terminal or service manager signals the whole group, but the parent decides when its children stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
const models = await loadModels(process.argv[2] ?? '');
const recognitions = new Set(models.map(({ recognition }) => recognition));
const reader = new FrameReader(handle);
const parent = new Socket({
  fd: PARENT_FD,
  onread: {
    buffer: () => reader.space(),
    callback: (bytes) => {
      reader.filled(bytes);
      return true;
    },
  },
});
const scheduler = new Scheduler(send);
let outgoing: Buffer[] = [];
let working = false;
let hasNewAudio = false;
let streamsCollected = 0;

parent.on('error', leave);
parent.on('close', leave);
parent.resume();
send({ type: FRAME.ready, credits: measuredSlots() });
deliver();

/** Weights that two models share are loaded once, and their streams are batched together. */
async function loadModels(
  config: string,
): Promise<{ language: string; recognition: Recognition }[]> {
  const loaded = new Map<string, Recognition>();
  const loaders = new Loaders();
  const found = [];
  for (const model of parseChildConfig(config)) {
    const key = JSON.stringify({ ...model, language: '' });
    const recognition = loaded.get(key) ?? (await load(model, loaders));
    loaded.set(key, recognition);
    found.push({ language: model.language, recognition });
  }
  return found;
}

async function load(model: ChildModel, loaders: Loaders): Promise<Recognition> {
  switch (model.kind) {
    case 'offline_ctc':
      return (await loaders.ctc()).load(model);
    case 'zipformer_transducer':
      return (await loaders.zipformer()).load(model);
    case 'transducer': {
      const { Recogniser } = await import('../recognisers/sherpa-recogniser.ts');
      return new Recogniser(model);
    }
  }
}

/** How many streams this child can serve by the cost of its heaviest weights. */
function measuredSlots(): number {
  return Math.min(...[...recognitions].map(({ liveStreams }) => liveStreams), SLOTS_MAX);
}

function handle(frame: Frame): void {
  switch (frame.type) {
    case FRAME.open: {
      // In an open frame, the utterance field holds the model's index.
      const model = models[frame.utterance];
      if (model === undefined) throw new RangeError('Unknown model.');
      const replayBytes = Number(frame.payload.toString());
      scheduler.open(frame.stream, { ...model, replayBytes });
      break;
    }
    case FRAME.audio:
      hasNewAudio = true;
      scheduler.audio(frame.stream, frame.payload);
      break;
    case FRAME.flush:
      scheduler.flush(frame.stream);
      break;
    case FRAME.reset:
      scheduler.reset(frame.stream);
      break;
    case FRAME.close:
      scheduler.close(frame.stream);
      break;
    case FRAME.keyterms:
      scheduler.keyterms(frame.stream, frame.utterance, parseKeyterms(frame.payload));
      break;
    case FRAME.peek:
      scheduler.peek(frame.stream, frame.utterance);
      break;
    case FRAME.ping:
      send({ type: FRAME.pong }, JSON.stringify(scheduler.figures));
      break;
    default:
      throw new RangeError('Unknown frame type.');
  }
  if (working) return;
  working = true;
  setImmediate(() => void work());
}

/** Parses without validation, because our own parent process wrote them. */
function parseKeyterms(payload: Buffer): string[] {
  const terms: string[] = JSON.parse(payload.toString());
  return terms;
}

/**
 * Reads all available input between two rounds, so that every round batches as much as possible. A socket holds about
 * four chunks, and the parent refills it while their features are computed, so one read isn't enough.
 */
async function work(): Promise<void> {
  if (hasNewAudio && !scheduler.full) {
    hasNewAudio = false;
    setImmediate(() => void work());
    return;
  }
  if (scheduler.idle) {
    scheduler.sendPostponed();
    await scheduler.answerPeek();
  } else {
    const round = scheduler.round();
    if (round !== undefined) await round;
  }
  deliver();
  collect();
  working = !scheduler.idle || scheduler.hasPostponed || scheduler.hasPeeks;
  if (working) setImmediate(() => void work());
}

function collect(): void {
  let made = 0;
  for (const { streamsMade } of recognitions) made += streamsMade;
  if (made - streamsCollected < COLLECT_EVERY_STREAMS) return;
  streamsCollected = made;
  globalThis.gc?.();
}

function send(header: FrameHeader, payload?: string): void {
  outgoing.push(encodeFrame(header, payload));
}

function deliver(): void {
  if (outgoing.length === 0) return;
  parent.write(outgoing.length === 1 ? (outgoing[0] ?? '') : Buffer.concat(outgoing));
  outgoing = [];
}

function leave(): void {
  process.exit(0);
}
