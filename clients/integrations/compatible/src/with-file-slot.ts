import type { DoorContext, Visit } from './door.ts';

/** Reads a file of an account that has credit, once there is a slot for it. */
export function withFileSlot(
  handle: (visit: Visit, context: DoorContext) => Promise<void>,
): (visit: Visit, context: DoorContext) => Promise<void> {
  return async (visit, context) => {
    const { caller, signal } = visit;
    caller.requireCredit();
    const leave = await context.decoders.admit(caller.account, signal);
    try {
      await handle(visit, context);
    } finally {
      leave();
    }
  };
}
