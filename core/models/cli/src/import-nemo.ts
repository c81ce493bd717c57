import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { writeModelSet, type ModelSet } from './model-set.ts';
import { Problem } from './problem.ts';
import type { Terminal } from './terminal.ts';
import { MAKE_ENVIRONMENT, TRAINING_DIR, trainingPython } from './training-python.ts';

export interface NemoImport {
  readonly checkpoint: string;
  readonly modelsDir: string;
  readonly name: string;
  readonly licence: string;
  readonly int8: boolean;
  readonly prompts: { readonly kikuyu: string; readonly dholuo: string };
  readonly normaliser: string;
  readonly source?: string;
  readonly stated?: ModelSet['stated'];
  readonly terminal: Terminal;
}

/** Before each line that is meant for people: NeMo reports everything it does. */
const STAGE = 'import: ';

/** Exports a .nemo file with NeMo itself, compares the result with NeMo and installs it; `use` then serves it. */
export async function importNemo(input: NemoImport): Promise<void> {
  await access(input.checkpoint).catch(() => {
    throw new Problem(`${input.checkpoint} cannot be read.`);
  });
  const python = await trainingPython();
  if (python === null)
    throw new Problem(`NeMo is not installed (2.3 GB). Run: ${MAKE_ENVIRONMENT}`);
  const target = join(input.modelsDir, input.name);
  const staging = join(input.modelsDir, `.${input.name}.export`);
  await rm(staging, { recursive: true, force: true });
  const args = ['-m', 'speech.nemo.import_nemo', resolve(input.checkpoint), '--out', staging];
  const child = spawn(python, [...args, ...(input.int8 ? ['--int8'] : [])], {
    cwd: TRAINING_DIR,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NEMO_LOGGING_LEVEL: 'ERROR' },
  });
  let last = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith(STAGE)) input.terminal.say(`  ${line.slice(STAGE.length)}`);
    last = line;
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-8_000)));
  const [status] = await once(child, 'close');
  if (status !== 0) {
    await rm(staging, { recursive: true, force: true });
    const refusal = said.indexOf('The engine cannot serve');
    throw new Problem(refusal >= 0 ? said.slice(refusal).trim() : `The import failed.\n${said}`);
  }
  const names = await readdir(staging);
  await writeModelSet(staging, {
    build: input.name,
    kind: 'transducer',
    licence: input.licence,
    source: input.source ?? `NeMo checkpoint ${input.checkpoint.split('/').at(-1) ?? ''}`,
    ...(input.stated === undefined ? {} : { stated: input.stated }),
    normaliser: input.normaliser,
    extra_lead_in_ms: 0,
    batch: 'safe',
    languages: {
      'svc-asr-kikuyu-v1': input.prompts.kikuyu,
      'svc-asr-dholuo-v1': input.prompts.dholuo,
    },
    files: {
      encoder: 'encoder.onnx',
      decoder: 'decoder.onnx',
      joiner: 'joiner.onnx',
      tokens: 'tokens.txt',
      ...(names.includes('encoder.data') ? { encoder_data: 'encoder.data' } : {}),
    },
  });
  await rm(target, { recursive: true, force: true });
  await rename(staging, target);
  const report: { notice: string | null; difference: number } = JSON.parse(last);
  const weights = input.int8 ? '8-bit weights' : 'weights';
  input.terminal.say(
    `  with these ${weights}, log probabilities differ from NeMo's by ${report.difference.toPrecision(2)} at most`,
  );
  if (report.notice !== null) input.terminal.say(report.notice);
}
