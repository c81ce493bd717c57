import { moveAccount } from '@svc-asr/server/cells/move-account.ts';
import { createPool } from '@svc-asr/server/platform/database/db.ts';
import type { MoverOrder } from './killable-mover.ts';

/** Moves one account as `svc-admin accounts move` does, and kills itself before the given step. */
const order: MoverOrder = JSON.parse(process.argv[2] ?? '{}');
const [source, target] = [order.sourceUrl, order.targetUrl].map((url) =>
  createPool({ url, role: 'svc_mover', maxConnections: 1, statementTimeoutMs: 60_000 }),
);
if (source === undefined || target === undefined) throw new Error('No databases.');
await moveAccount({
  source,
  target,
  accountId: order.accountId,
  targetCell: order.targetCell,
  drainMs: order.drainMs,
  onStep: (step) => {
    if (step === order.killBefore) process.kill(process.pid, 'SIGKILL');
  },
});
await Promise.all([source.end(), target.end()]);
