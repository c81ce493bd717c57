import type { Pool } from '@svc-asr/server/platform/database/db.ts';
import { registerNode } from '@svc-asr/server/nodes/nodes.ts';

/** Registers a node whose lease never expires, so that only the faults of the campaign matter. */
export async function registerCampaignNode(owner: Pool): Promise<number> {
  const nodeEpoch = await registerNode(owner, {
    id: 'campaign',
    publicUrl: 'wss://campaign.example/v1/asr/stream',
    models: ['svc-asr-kikuyu-v1'],
    capacity: 100,
  });
  await owner.query(`update nodes set lease_until = 'infinity' where id = 'campaign'`);
  return nodeEpoch;
}
