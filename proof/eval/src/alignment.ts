/** One step of the cheapest alignment of reference and hypothesis. A side is undefined for insertions and deletions. */
export interface Aligned {
  readonly spoken: string | undefined;
  readonly recognised: string | undefined;
}

/** Aligns two sequences with the fewest insertions, deletions and substitutions. */
export function align(spoken: readonly string[], recognised: readonly string[]): Aligned[] {
  const costs = costTable(spoken, recognised);
  const steps: Aligned[] = [];
  let [i, j] = [spoken.length, recognised.length];
  const cost = (a: number, b: number): number => costs[a]?.[b] ?? Infinity;
  while (i > 0 || j > 0) {
    const same = spoken[i - 1] === recognised[j - 1];
    if (i > 0 && j > 0 && cost(i, j) === cost(i - 1, j - 1) + (same ? 0 : 1)) {
      steps.push({ spoken: spoken[i - 1], recognised: recognised[j - 1] });
      i -= 1;
      j -= 1;
    } else if (i > 0 && cost(i, j) === cost(i - 1, j) + 1) {
      steps.push({ spoken: spoken[i - 1], recognised: undefined });
      i -= 1;
    } else {
      steps.push({ spoken: undefined, recognised: recognised[j - 1] });
      j -= 1;
    }
  }
  return steps.toReversed();
}

function costTable(a: readonly string[], b: readonly string[]): number[][] {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (const [i, x] of a.entries()) {
    const above = rows[i] ?? [];
    const row = [i + 1];
    for (const [j, y] of b.entries()) {
      const substituted = (above[j] ?? 0) + (x === y ? 0 : 1);
      row.push(Math.min((above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1, substituted));
    }
    rows.push(row);
  }
  return rows;
}
