import type { PlaygroundReceipt } from '@svc-asr/protocol/console/console.ts';
import { get } from '../../app/api.ts';

const ASK_EVERY_MS = 1_000;
/** Longer than the lease of a node that died with the session. */
const ASK_MAX_MS = 120_000;

/** Asks until the ledger has settled the session. Returns null if it takes too long, or when aborted. */
export async function askLedger(
  sessionId: string,
  signal: AbortSignal,
): Promise<PlaygroundReceipt | null> {
  const until = performance.now() + ASK_MAX_MS;
  while (!signal.aborted && performance.now() < until) {
    const receipt = await get<PlaygroundReceipt>(`/playground/session/${sessionId}`).catch(
      () => null,
    );
    if (receipt !== null && receipt.settled) return receipt;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return null;
}
