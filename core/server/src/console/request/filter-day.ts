const DAY_MS = 24 * 3_600_000;

/** When a day of a filter begins. Null: the filter is not set. */
export function dayBegins(day: string | undefined): Date | null {
  return day === undefined ? null : new Date(day.includes('T') ? day : `${day}T00:00:00Z`);
}

export function dayEnds(day: string | undefined): Date | null {
  const begins = dayBegins(day);
  return begins === null ? null : new Date(begins.getTime() + DAY_MS);
}
