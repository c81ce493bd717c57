/**
 * Returns the less loaded of two random candidates, or null if there are none. Each process knows the loads of a moment
 * ago, so all of them would choose the least loaded at once.
 */
export function lessLoadedOfTwo<T>(
  candidates: readonly T[],
  loadOf: (candidate: T) => number,
  random: () => number = Math.random,
): T | null {
  const first = candidates[Math.floor(random() * candidates.length)];
  const rest = candidates.filter((candidate) => candidate !== first);
  const second = rest[Math.floor(random() * rest.length)];
  if (first === undefined || second === undefined) return first ?? null;
  return loadOf(second) < loadOf(first) ? second : first;
}
