import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startLocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { readSettings } from '../../src/admin/settings.ts';
import { connect } from '../../src/platform/database/db.ts';

test('without DATABASE_URL svc-admin uses the socket of the database that `npm run dev` started', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-dev-'));
  const postgres = await startLocalPostgres({ dataDir: join(folder, 'postgres') });
  try {
    const client = await connect({ url: readSettings({}, folder).databaseUrl });
    const { rows } = await client.query<{ folder: string }>(
      "select current_setting('data_directory') as folder",
    );
    await client.end();
    expect(rows).toEqual([{ folder: postgres.dataDir }]);
  } finally {
    await postgres.stop('immediate');
    await rm(postgres.dataDir, { recursive: true });
    await rm(folder, { recursive: true, force: true });
  }
});
