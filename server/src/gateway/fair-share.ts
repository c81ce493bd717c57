/** Shares the slots of a nearly full node between accounts. */

export interface SlotHolder {
  readonly accountId: string;
  /** Time without audio. Zero for a stream that must not be reclaimed. */
  readonly idleMs: number;
}

export interface Slots {
  readonly active: number;
  readonly capacity: number;
}

/** This share of the slots is kept free for new streams while idle streams can be reclaimed. */
const SPARE_SHARE = 0.1;

/** Returns how many streams must end until the spare slots are free again. */
function slotsShort({ active, capacity }: Slots): number {
  return Math.ceil(capacity * SPARE_SHARE) - (capacity - active);
}

/**
 * Returns whether an account may open one more stream. While spare slots are short and other accounts stream here, an
 * account gets its equal share of the node and no more.
 */
export function mayOpen(
  accountId: string,
  input: { holders: Iterable<SlotHolder>; slots: Slots },
): boolean {
  if (slotsShort(input.slots) < 0) return true;
  const held = countByAccount(input.holders);
  const accounts = held.has(accountId) ? held.size : held.size + 1;
  return accounts === 1 || (held.get(accountId) ?? 0) < input.slots.capacity / accounts;
}

/**
 * Returns the streams to end so that new streams find a slot: the longest idle ones of the account with the most slots.
 * An account with one stream keeps it.
 */
export function streamsToReclaim<T extends SlotHolder>(
  holders: Iterable<T>,
  input: { slots: Slots; idleMs: number },
): T[] {
  const short = slotsShort(input.slots);
  if (short <= 0) return [];
  const all = [...holders];
  const held = countByAccount(all);
  const idle = all
    .filter(({ idleMs }) => idleMs >= input.idleMs)
    .toSorted((a, b) => b.idleMs - a.idleMs);
  const reclaimed: T[] = [];
  while (reclaimed.length < short) {
    const next = largestHolder(idle, held);
    if (next === undefined) break;
    idle.splice(idle.indexOf(next), 1);
    held.set(next.accountId, (held.get(next.accountId) ?? 0) - 1);
    reclaimed.push(next);
  }
  return reclaimed;
}

function largestHolder<T extends SlotHolder>(
  idle: readonly T[],
  held: ReadonlyMap<string, number>,
): T | undefined {
  let largest: T | undefined;
  for (const one of idle) {
    const count = held.get(one.accountId) ?? 0;
    if (count > 1 && count > (held.get(largest?.accountId ?? '') ?? 0)) largest = one;
  }
  return largest;
}

function countByAccount(holders: Iterable<SlotHolder>): Map<string, number> {
  const held = new Map<string, number>();
  for (const { accountId } of holders) held.set(accountId, (held.get(accountId) ?? 0) + 1);
  return held;
}
