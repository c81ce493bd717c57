import { rm } from 'node:fs/promises';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { expect, test } from 'vitest';
import type { Compute } from '../src/compute.ts';
import { CtcEncoder } from '../src/recognisers/ctc-encoder.ts';
import { CtcLoader } from '../src/recognisers/ctc-loader.ts';
import { EngineFailed, startSherpaEngine } from '../src/index.ts';
import { parseEngineNodeConfig } from '../src/node/node-config.ts';

async function textWith(compute: Compute): Promise<string> {
  const recogniser = await new CtcLoader().load({ files: STAND_IN, compute });
  const { samples } = toUtterance(speech('kikuyu-1'));
  return (await recogniser.recogniseWhole(samples)).text;
}

test('two threads recognise the same text as one', async () => {
  const text = await textWith({ threads: 1, device: 'cpu' });
  expect(text).not.toBe('');
  expect(await textWith({ threads: 2, device: 'cpu' })).toBe(text);
});

// These two describe machines without CUDA, such as those that run the tests.
test('cuda is refused where ONNX Runtime has no GPU, and says what to do', async () => {
  const loading = CtcEncoder.load(STAND_IN.model, { threads: 1, device: 'cuda' });
  await expect(loading).rejects.toThrow(/ENGINE_DEVICE=cuda, but .* Use cuda-or-cpu or cpu/s);
});

test('cuda-or-cpu falls back to the CPU with the same text', async () => {
  const compute = { threads: 1, device: 'cuda-or-cpu' } as const;
  expect((await CtcEncoder.load(STAND_IN.model, compute)).device).toBe('cpu');
  expect(await textWith(compute)).toBe(await textWith({ threads: 1, device: 'cpu' }));
});

test('a pool on cuda does not start without a GPU, nor with a transducer', async () => {
  const models = standInModels();
  try {
    const pool = { modelsDir: models, children: 1, compute: { device: 'cuda' } } as const;
    await expect(startSherpaEngine(pool)).rejects.toThrow(EngineFailed);
    const transducer = { ...pool, modelsDir: MODELS_DIR };
    await expect(startSherpaEngine(transducer)).rejects.toThrow('is for offline CTC models');
  } finally {
    await rm(models, { recursive: true });
  }
});

test('a node reads threads and device, and names wrong ones', () => {
  expect(parseEngineNodeConfig({}).compute).toEqual({ threads: 1, device: 'cpu' });
  const env = { ENGINE_THREADS_PER_CHILD: '4', ENGINE_DEVICE: 'cuda-or-cpu' };
  expect(parseEngineNodeConfig(env).compute).toEqual({ threads: 4, device: 'cuda-or-cpu' });
  const wrong = { ENGINE_THREADS_PER_CHILD: '0', ENGINE_DEVICE: 'rocm' };
  expect(() => parseEngineNodeConfig(wrong)).toThrow(
    /ENGINE_THREADS_PER_CHILD must be .*\n.*ENGINE_DEVICE must be one of cpu, cuda, cuda-or-cpu/,
  );
});
