import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Client } from '@svc-asr/server/platform/database/db.ts';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { findDifference } from '../../src/ledger/equivalence.ts';
import { ModelLedger } from '../../src/ledger/model-ledger.ts';
import { RecordingLedger } from '../../src/ledger/recording.ts';
import { modelRows } from '../../src/ledger/rows.ts';
import { installClock, useClock } from '../../src/ledger/simulated-clock.ts';
import { RandomCalls } from './random-calls.ts';

const SEEDS = Number(process.env['SIMULATE_EQUIVALENCE_SEEDS'] ?? 20);
const STEPS = 150;
const NOON = Date.UTC(2027, 0, 2, 12);

describe('the ledger model', () => {
  let database: TestDatabase;
  let db: Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    await installClock(database.pool);
    db = await connect({ url: database.url });
    await useClock(db);
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  test(
    'answers every call of the server as PostgreSQL does, and has the same rows afterwards',
    { timeout: 240_000 + SEEDS * 2_000 },
    async () => {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const clock = { nowMs: NOON };
        const model = new ModelLedger({ nowMs: () => clock.nowMs });
        const recording = new RecordingLedger(model, () => clock.nowMs);
        await new RandomCalls(recording, clock, seed).run(STEPS);
        const difference = await findDifference(db, recording.recorded, modelRows(model.state));
        expect(difference, `seed ${seed}`).toBeNull();
        expect(await findViolations(db), `seed ${seed}`).toEqual([]);
      }
    },
  );
});
