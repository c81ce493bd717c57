import type { Pool } from '@svc-asr/server/db.ts';
import { registerNode } from '@svc-asr/server/nodes.ts';

/** A node whose lease does not end: what the campaign does is the fault here, not the sweeper's patience. */
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
