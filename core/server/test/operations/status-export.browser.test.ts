import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StatusHistory } from '@svc-asr/protocol/service-status.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { expect, onTestFinished, test } from 'vitest';
import { runAdmin } from '../../src/admin/program.ts';

/** Needs no browser, but the built pages, which only that tier has. */

test('the exported page is a folder that any web server can serve', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const admin = async (...words: string[]): Promise<{ status: number; said: string }> => {
    let said = '';
    const tell = (text: string) => void (said += text);
    const env = { DATABASE_URL: database.url };
    const status = await runAdmin(words, { env, devFolder: '/nowhere', out: tell, err: tell });
    return { status, said };
  };
  await admin('status', 'incident', 'add', 'Slow answers');
  await database.pool.query(
    `insert into status_days (day, component, available)
      values ((clock_timestamp() at time zone 'UTC')::date, 'api', repeat('1', 1440)::bit(1440))`,
  );
  const folder = await mkdtemp(join(tmpdir(), 'svc-status-'));
  try {
    const { status, said } = await admin(
      'status',
      'export',
      folder,
      '--service',
      'https://api.example',
    );
    expect(said).not.toContain('not built');
    expect(status).toBe(0);
    const page = await readFile(join(folder, 'index.html'), 'utf8');
    expect(page).not.toContain('{{');
    const files = await readdir(folder, { recursive: true });
    for (const [, path = ''] of page.matchAll(/(?:href|src)="\/([^"]+)"/g))
      expect(files).toContain(path);
    for (const [, link = ''] of page.matchAll(/<a [^>]*href="([^"/][^"]*)"/g)) {
      expect(link).toMatch(/^https:\/\/api\.example/);
    }
    const now = JSON.parse(await readFile(join(folder, 'status.json'), 'utf8'));
    expect(now.components[0]).toMatchObject({ id: 'api', state: 'operational' });
    const history: StatusHistory = JSON.parse(
      await readFile(join(folder, 'status/history.json'), 'utf8'),
    );
    expect(history.incidents).toMatchObject([{ text: 'Slow answers', ended_at: null }]);
    expect(await readFile(join(folder, 'status/incidents.atom'), 'utf8')).toContain('Slow answers');
    expect(files.filter((file) => file.endsWith('.new'))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
