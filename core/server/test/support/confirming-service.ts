import { afterAll } from 'vitest';
import { SileroConfirmer, startSherpaEngine } from '@svc-asr/engine';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';

/** Starts a service with the shipped models and the second detector. It stops after the tests of the file. */
export async function startConfirmingService(creditMs: number): Promise<Service> {
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  const confirmer = await SileroConfirmer.load();
  const svc = await startService({ creditMs, parts: { engine, confirmer } });
  afterAll(async () => {
    await svc.stop();
    await engine.close();
  });
  return svc;
}
