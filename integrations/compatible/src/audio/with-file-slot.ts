import type { DoorContext, Visit } from '../door.ts';

/** Reads a file for a key that the service knows, once there is a slot for it. */
export function withFileSlot(
  handle: (visit: Visit, context: DoorContext) => Promise<void>,
): (visit: Visit, context: DoorContext) => Promise<void> {
  return async (visit, context) => {
    const { caller, signal } = visit;
    await caller.verify(signal);
    const leave = context.decoders.admit(caller.id);
    try {
      await handle(visit, context);
    } finally {
      leave();
    }
  };
}
