import { Socket } from 'node:net';
import { parseChildConfig } from './child-config.ts';
import { encodeFrame, FRAME, FrameReader, type Frame, type FrameHeader } from './frames.ts';
import { Recogniser } from './recogniser.ts';
import { Scheduler } from './scheduler.ts';

/** The child process: one thread that recognises. It ends when its parent does. */
const PARENT_FD = 3;
/**
 * A native stream that is over keeps its third of a megabyte until V8 collects its handle. Handles are so small that V8
 * would let thousands gather; told after so many, it takes 10 ms.
 */
const COLLECT_EVERY_STREAMS = 64;

// A terminal or a service manager signals the whole group; the parent decides when its children end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
const models = loadModels(process.argv[2] ?? '');
const recognisers = new Set(models.map(({ recogniser }) => recogniser));
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
let heardAudio = false;
let streamsCollected = 0;

parent.on('error', leave);
parent.on('close', leave);
parent.resume();
send({ type: FRAME.ready });
deliver();

/** Weights that two models share are loaded once, and their streams are batched together. */
function loadModels(config: string): { language: string; recogniser: Recogniser }[] {
  const loaded = new Map<string, Recogniser>();
  return parseChildConfig(config).map(({ language, files, batching }) => {
    const key = JSON.stringify(files);
    const recogniser = loaded.get(key) ?? new Recogniser({ files, batching });
    loaded.set(key, recogniser);
    return { language, recogniser };
  });
}

function handle(frame: Frame): void {
  switch (frame.type) {
    case FRAME.open: {
      // An open names its model in the place where other frames name the utterance.
      const model = models[frame.utterance];
      if (model === undefined) throw new RangeError('No such model.');
      scheduler.open(frame.stream, model.recogniser, model.language);
      break;
    }
    case FRAME.audio:
      heardAudio = true;
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
    case FRAME.ping:
      send({ type: FRAME.pong });
      break;
    default:
      throw new RangeError('No such frame.');
  }
  if (working) return;
  working = true;
  setImmediate(work);
}

/**
 * All input that is there is read between two rounds, so every round batches as much as it can. A socket holds four
 * chunks or so; while their features are computed the parent fills it again, so one look is not enough.
 */
function work(): void {
  if (heardAudio && !scheduler.full) {
    heardAudio = false;
    setImmediate(work);
    return;
  }
  if (scheduler.idle) scheduler.sayUnsaid();
  else scheduler.round();
  deliver();
  collect();
  working = !scheduler.idle || scheduler.unsaid;
  if (working) setImmediate(work);
}

function collect(): void {
  let made = 0;
  for (const { streamsMade } of recognisers) made += streamsMade;
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
