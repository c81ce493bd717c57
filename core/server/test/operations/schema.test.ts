import { expect, test } from 'vitest';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { schemaText } from '../support/schema-text.ts';

test('core/server/sql/schema.sql is the schema of a migrated database (else add -u)', async () => {
  const database = await createTestDatabase();
  try {
    await expect(await schemaText(database.pool)).toMatchFileSnapshot('../../sql/schema.sql');
  } finally {
    await database.drop();
  }
});
