/** Shares the slots of a nearly full node between accounts. */

export interface SlotHolder {
  readonly accountId: string;
  /** Audio of the last window as a share of real time. 1 for a stream that must not be reclaimed. */
  readonly audioShare: number;
}

export interface Slots {
  readonly active: number;
  readonly capacity: number;
}

/** This share of the slots is kept free for new streams while idle streams can be reclaimed. */
const SPARE_SHARE = 0.1;
/** A stream with less audio than this is idle. Time since the last frame would not do: two bytes now and then reset it. */
const IDLE_SHARE = 0.1;
/** A stream with more audio than this is never reclaimed, even if another account is refused. */
const BUSY_SHARE = 0.5;

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
 * Returns the streams to end so that new streams find a slot: idle ones of the account with the most slots, those with
 * the least audio first. An account with one stream keeps it.
 */
export function streamsToReclaim<T extends SlotHolder>(
  holders: Iterable<T>,
  input: { slots: Slots },
): T[] {
  // More streams than slots: recognisers are lost. That is our failure, and no reason to end a stream and charge it.
  if (input.slots.active > input.slots.capacity) return [];
  const short = slotsShort(input.slots);
  if (short <= 0) return [];
  const all = [...holders];
  const held = countByAccount(all);
  const idle = all
    .filter(({ audioShare }) => audioShare < IDLE_SHARE)
    .toSorted((a, b) => a.audioShare - b.audioShare);
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

/**
 * Returns the stream to end because a full node refused an account below its share: the one with the least audio of the
 * account that is furthest above its own. Streams that speak most of the time stay, so there may be none.
 */
export function streamToYield<T extends SlotHolder>(
  refusedAccountId: string,
  input: { holders: Iterable<T>; slots: Slots },
): T | undefined {
  const all = [...input.holders];
  if (all.length > input.slots.capacity) return undefined;
  const held = countByAccount(all);
  const accounts = held.has(refusedAccountId) ? held.size : held.size + 1;
  const share = input.slots.capacity / accounts;
  if ((held.get(refusedAccountId) ?? 0) + 1 > share) return undefined;
  const yielding = all
    .filter(({ accountId, audioShare }) => {
      return (held.get(accountId) ?? 0) > share && audioShare < BUSY_SHARE;
    })
    .toSorted((a, b) => a.audioShare - b.audioShare);
  return largestHolder(yielding, held);
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
