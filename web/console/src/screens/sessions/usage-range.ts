const DAY_MS = 86_400_000;

export interface Range {
  readonly from: string;
  readonly to: string;
}

/** The ranges that people ask for most. Days are in UTC, as in the ledger. */
export const PRESETS = ['month', 'lastMonth', 'week'] as const;
export type Preset = (typeof PRESETS)[number];

export function rangeOf(preset: Preset, today: string): Range {
  const [year = 0, month = 0] = today.split('-').map(Number);
  switch (preset) {
    case 'month':
      return { from: `${today.slice(0, 7)}-01`, to: today };
    case 'lastMonth':
      // Day 0 is the last day of the month before.
      return {
        from: dayOf(Date.UTC(year, month - 2, 1)),
        to: dayOf(Date.UTC(year, month - 1, 0)),
      };
    case 'week':
      return { from: dayOf(Date.parse(today) - 6 * DAY_MS), to: today };
  }
}

export function presetOf({ from, to }: Range, today: string): Preset | null {
  const known = PRESETS.find((preset) => {
    const range = rangeOf(preset, today);
    return range.from === from && range.to === to;
  });
  return known ?? null;
}

/** Both days included. */
export function daysIn({ from, to }: Range): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
