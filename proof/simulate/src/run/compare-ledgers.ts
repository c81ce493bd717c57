import type { Client } from '@svc-asr/server/platform/database/db.ts';
import { findDifference, type Difference } from '../ledger/equivalence.ts';
import { ModelLedger } from '../ledger/model-ledger.ts';
import { RecordingLedger } from '../ledger/recording.ts';
import { modelRows } from '../ledger/rows.ts';
import type { Plan } from '../world/plan.ts';
import { runPlan } from './run-plan.ts';

/** Runs a plan with the ledger model, then asks a real PostgreSQL the same. Returns the first difference, or null. */
export async function compareLedgers(
  db: Client,
  plan: Plan,
): Promise<{ readonly calls: number; readonly difference: Difference | null }> {
  const opened: { model: ModelLedger; recording: RecordingLedger }[] = [];
  await runPlan(plan, (nowMs) => {
    const model = new ModelLedger({ nowMs });
    const recording = new RecordingLedger(model, nowMs);
    opened.push({ model, recording });
    return recording;
  });
  const [ledger] = opened;
  if (ledger === undefined) throw new Error('The run opened no ledger.');
  const { recorded } = ledger.recording;
  const difference = await findDifference(db, recorded, modelRows(ledger.model.state));
  return { calls: recorded.length, difference };
}
