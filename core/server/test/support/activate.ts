import { registerNode } from '../../src/nodes/nodes.ts';
import { KIKUYU, type Service } from '@svc-asr/testing/service/service.ts';

/** Claims a session as a streaming node would, without a stream. Returns a function that closes it. */
export async function activate(
  svc: Service,
  session: { sessionId: string; accountId: string },
): Promise<(end: { status: 'completed' | 'failed'; samples: number }) => Promise<void>> {
  const nodeId = `node-${crypto.randomUUID()}`;
  const nodeEpoch = await registerNode(svc.database.pool, {
    id: nodeId,
    publicUrl: svc.config.publicStreamUrl,
    models: [KIKUYU],
    capacity: 1,
  });
  const owner = { ...session, nodeId, nodeEpoch };
  const claim = await svc.deps.ledger.claim(owner);
  if (claim.outcome !== 'claimed') throw new Error(`The claim was not won: ${claim.outcome}`);
  return async (end) => {
    await svc.deps.ledger.close({ ...owner, ...end });
  };
}
