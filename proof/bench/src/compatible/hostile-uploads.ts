import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import { childrenOf } from '@svc-asr/local/child-process.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { hostileFiles } from '@svc-asr/testing/speech/hostile-files.ts';
import type { CheckContext } from './client-checks.ts';

const CREDIT_MS = 100_000_000;
/** The program's own limit. */
const AUDIO_MS_MAX = 2 * 60 * 60_000;
const AT_ONCE = 4;
const ANSWER_MS_MAX = 120_000;
const GONE_MS_MAX = 10_000;

export interface HostileFigures {
  readonly hostile_files: number;
  /** Uploads without an answer, with an answer of 500, or that left a process or reached another address. */
  readonly hostile_failed: number;
}

/** Uploads hostile files to the running program. */
export async function checkHostileUploads(
  { service, folder }: CheckContext,
  input: { readonly log: (line: string) => void },
): Promise<HostileFigures> {
  let reached = 0;
  const target = createServer((_, response) => {
    reached += 1;
    response.end();
  });
  const port = await listen(target);
  const path = join(folder, 'secret.raw');
  await writeFile(path, Buffer.alloc(100_000, 0x5a), { mode: 0o644 });
  const targets = { url: `http://127.0.0.1:${port}`, path };
  const all = await hostileFiles(targets, AUDIO_MS_MAX);
  // Two hours of silence are decoded before they are refused. One such file is enough here.
  const files = all.filter(({ name }) => !/silence in (Opus|AAC)/.test(name));
  const tenants = await service.fleet.addTenants(AT_ONCE, CREDIT_MS);
  let failed = 0;
  await mapConcurrently(files, AT_ONCE, async ({ name, bytes }, at) => {
    const form = new FormData();
    form.append('model', 'svc-asr-kikuyu-v1');
    form.append('file', new Blob([new Uint8Array(bytes)]), 'upload');
    const status = await fetch(`${service.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenants[at % AT_ONCE]?.apiKey ?? ''}` },
      body: form,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    }).then(
      (response) => response.status,
      () => 0,
    );
    if (status >= 200 && status < 500) return;
    failed += 1;
    input.log(`${name}: status ${status}`);
  });
  target.close();
  const hasDecoder = (): boolean => childrenOf(service.program.pid).length > 0;
  const isLeft = await eventually(() => !hasDecoder(), GONE_MS_MAX).then(
    () => false,
    () => true,
  );
  if (isLeft) input.log('A decoder is still running.');
  if (reached > 0) input.log(`An address was opened ${reached} times.`);
  return {
    hostile_files: files.length,
    hostile_failed: failed + reached + (isLeft ? 1 : 0),
  };
}
