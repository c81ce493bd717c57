import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSherpaEngine, type Engine } from '@svc-asr/engine';
import { AUDIO, type ModelId } from '@svc-asr/protocol';
import { readWave } from './audio.ts';
import { recogniseWords } from './recognise.ts';

/** `npm run examples`: updates the transcripts on the console's public page after a model change. */

const ROOT = join(import.meta.dirname, '../../..');
const TARGET = join(ROOT, 'web/console/src/public/examples.ts');
const BARS = 56;
/** Minimum height of a visible bar. */
const LOUDNESS_MIN = 4;
/** Exponent that makes quiet parts as visible as they are audible. */
const AS_HEARD = 0.7;
const RECORDINGS = [
  { name: 'kikuyu-1', model: 'svc-asr-kikuyu-v1' },
  { name: 'dholuo-1', model: 'svc-asr-dholuo-v1' },
] as const;

const HEAD = `import type { Example } from './example.ts';

/** Two of the fixtures in core/models/fixtures. Written by \`npm run examples\`. */`;

const engine = await startSherpaEngine({ modelsDir: join(ROOT, 'core/models'), children: 1 });
try {
  const examples = [];
  for (const recording of RECORDINGS) examples.push(await describe(engine, recording));
  const source = `${HEAD}\nexport const EXAMPLES: readonly Example[] = ${JSON.stringify(examples)};\n`;
  await writeFile(TARGET, source);
  await promisify(execFile)('oxfmt', [TARGET]);
  for (const { words } of examples) console.log(words.map(({ text }) => text).join(' '));
} finally {
  await engine.close();
}

async function describe(listener: Engine, recording: { name: string; model: ModelId }) {
  const wave = await readWave(join(ROOT, `core/models/fixtures/${recording.name}.wav`));
  const { words } = await recogniseWords(listener, { model: recording.model, wave });
  return {
    model: recording.model,
    audio: `/examples/${recording.name}.mp3`,
    durationMs: Math.floor((wave.length / AUDIO.sampleRateHz) * 1_000),
    envelope: envelopeOf(wave),
    words: words.map(({ text, startMs, endMs }) => ({ text, startMs, endMs })),
  };
}

function envelopeOf(wave: Float32Array): number[] {
  const loudness = Array.from({ length: BARS }, (_, bar) => {
    const from = Math.floor((bar / BARS) * wave.length);
    const part = wave.subarray(from, Math.floor(((bar + 1) / BARS) * wave.length));
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length);
  });
  const top = Math.max(...loudness);
  return loudness.map((value) =>
    Math.max(LOUDNESS_MIN, Math.round((value / top) ** AS_HEARD * 100)),
  );
}
