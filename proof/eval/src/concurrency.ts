/** Maps items, at most `atOnce` at a time, and keeps their order. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  async function worker(): Promise<void> {
    for (const [at, item] of queue) results[at] = await work(item, at);
  }
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
