import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcClient } from '@svc-asr/sdk';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { toneWav } from '@svc-asr/testing/speech/wav.ts';
import { expect, test } from 'vitest';
import { envOf, runSvc } from './svc.ts';

test('45 short files stay within 30 sessions a minute and end with a total', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bulk-'));
  const out = join(folder, 'out');
  const wav = toneWav(700);
  for (let at = 10; at < 55; at += 1) await writeFile(join(folder, `${at}.wav`), wav);
  const limited = await startEmulatorOn(await createTestDatabase(), {
    texts: ['nĩ wega mũno'],
    concurrency: 4,
    sessionsPerMinute: 30,
  });
  const command = ['transcribe', '-l', 'ki', folder, '-o', out];
  const result = await runSvc(command, { env: envOf(limited) });
  const client = new SvcClient({ baseUrl: limited.url, apiKey: limited.apiKey });
  const { recent_sessions: sessions, available_ms } = await client.usage.get();
  await limited.stop();
  expect(result.code).toBe(0);
  expect(await readdir(out)).toHaveLength(45);
  expect(sessions.length).toBeLessThanOrEqual(4);
  // 31.5 s of audio, rounded up once per session and not once per file.
  expect(3_600_000 - available_ms).toBeLessThanOrEqual(36_000);
  expect(result.err).toMatch(
    /Total: 45 done · 0:31 of audio · 3[2-6] s charged · 59:2\d credit left/,
  );
  await rm(folder, { recursive: true });
});
