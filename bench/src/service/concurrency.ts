/** Runs `work` for every item, at most `atOnce` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      const item = items[at];
      if (item !== undefined) await work(item, at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}
