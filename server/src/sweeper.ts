import type { Ledger } from './ledger/ledger.ts';
import type { Log } from './log.ts';

const SWEEP_EVERY_MS = 1_000;
const BATCHES_MAX = 100;

/**
 * Ends what nobody else ends: lapsed reservations and sessions whose node is gone. Several processes may sweep; one
 * at a time works. When to keep silent after an outage is the ledger's to decide, by the database's clock.
 */
export function startSweeper(input: { ledger: Pick<Ledger, 'sweep'>; log: Log }): {
  stop(): Promise<void>;
} {
  let sweeping = Promise.resolve();
  let isBusy = false;
  let isAway = false;

  async function sweep(): Promise<void> {
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      const { failed, expired, more } = await input.ledger.sweep();
      if (failed > 0 || expired > 0) input.log.info({ failed, expired }, 'sessions swept');
      if (!more) return;
    }
  }
  async function turn(): Promise<void> {
    isBusy = true;
    try {
      await sweep();
      isAway = false;
    } catch (error) {
      if (!isAway)
        input.log.warn({ err: error }, 'A sweep failed. It is tried again every second.');
      isAway = true;
    }
    isBusy = false;
  }
  const timer = setInterval(() => {
    if (!isBusy) sweeping = turn();
  }, SWEEP_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
