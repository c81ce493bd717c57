import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { AUDIO } from '@svc-asr/protocol';
import { MODEL_OF, type Language } from './languages.ts';
import { stageModelSet } from './model-set.ts';
import { Problem } from './problem.ts';
import { streamRecording } from './stream-recording.ts';
import { inMegabytes, type Terminal } from './terminal.ts';
import { readPcm } from './wave-file.ts';

/** Hidden, and without .json at its end, so that it is taken neither for a model nor for a manifest. */
const FILE = '.measured';
/** The engine serves no more per process, however small a model is. */
const STREAMS_MAX = 100;

interface Measured {
  /** The processor, and when the model was installed: others are measured again. */
  readonly of: string;
  readonly streams: number;
}

/** `svc-models try`: prints what a model makes of a recording, how long that takes and how much memory. */
export async function tryModel(input: {
  readonly modelsDir: string;
  readonly name: string;
  readonly recording: string;
  readonly language: Language;
  readonly terminal: Terminal;
}): Promise<void> {
  const { modelsDir, name, terminal } = input;
  const pcm = await readPcm(input.recording);
  const seconds = pcm.length / AUDIO.bytesPerSample / AUDIO.sampleRateHz;
  if (seconds === 0) throw new Problem(`${input.recording} contains no audio.`);
  terminal.show(`Loading ${name} and measuring how many streams it can serve`);
  await withEngine(modelsDir, name, async (engine) => {
    terminal.show(`Transcribing ${Math.ceil(seconds)} s of audio`);
    const beganMs = performance.now();
    const { text } = await streamRecording(engine, { model: MODEL_OF[input.language], pcm });
    const perSecond = (performance.now() - beganMs) / 1000 / seconds;
    const streams = await remember(modelsDir, name, engine);
    terminal.show('');
    terminal.say(`text     ${text}`);
    terminal.say(`time     ${perSecond.toPrecision(2)} s per second of audio, on one core`);
    terminal.say(`streams  ${presentStreams(streams)} live ones a core`);
    terminal.say(`memory   ${await peakMemory(engine)}`);
    if (perSecond > 1) {
      terminal.say('This machine is too slow to transcribe speech with it while people speak.');
    }
  });
}

/** How many live streams a core of this machine serves: measured by the engine when it loads the model, once. Null if it can't. */
export async function streamsPerCore(modelsDir: string, name: string): Promise<string | null> {
  const known = (await readMeasured(modelsDir))[name];
  if (known?.of === (await measuredOf(modelsDir, name))) return presentStreams(known.streams);
  try {
    return presentStreams(
      await withEngine(modelsDir, name, (engine) => remember(modelsDir, name, engine)),
    );
  } catch {
    return null;
  }
}

function presentStreams(streams: number): string {
  return streams >= STREAMS_MAX ? `${STREAMS_MAX} or more` : String(streams);
}

/** Serves one model from a process of its own, as the service does. */
async function withEngine<Result>(
  modelsDir: string,
  name: string,
  use: (engine: SherpaEngine) => Promise<Result>,
): Promise<Result> {
  const staged = await stageModelSet(modelsDir, name);
  try {
    const engine = await startSherpaEngine({ modelsDir: staged, children: 1 });
    try {
      return await use(engine);
    } finally {
      await engine.close();
    }
  } finally {
    await rm(staged, { recursive: true });
  }
}

async function remember(modelsDir: string, name: string, engine: SherpaEngine): Promise<number> {
  const streams = engine.health().capacity;
  const measured = await readMeasured(modelsDir);
  measured[name] = { of: await measuredOf(modelsDir, name), streams };
  const path = join(modelsDir, FILE);
  // A folder that only others may write to is measured again.
  await writeFile(`${path}.new`, `${JSON.stringify(measured, null, 2)}\n`)
    .then(() => rename(`${path}.new`, path))
    .catch(() => {});
  return streams;
}

async function readMeasured(modelsDir: string): Promise<Record<string, Measured>> {
  const text = await readFile(join(modelsDir, FILE), 'utf8').catch(() => '{}');
  const measured: Record<string, Measured> = JSON.parse(text);
  return measured;
}

async function measuredOf(modelsDir: string, name: string): Promise<string> {
  const { mtimeMs } = await stat(join(modelsDir, name, 'model.json'));
  return `${cpus()[0]?.model ?? 'unknown'}, ${mtimeMs}`;
}

/** The most memory that the process of the recogniser has held. */
async function peakMemory(engine: SherpaEngine): Promise<string> {
  const [child] = engine.children();
  const status = await readFile(`/proc/${child?.pid}/status`, 'latin1').catch(() => '');
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
  return kib === undefined ? 'unknown on this system' : inMegabytes(Number(kib) * 1024);
}
