import { MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import type { UsageDay } from '@svc-asr/protocol/console/console.ts';

export interface DayTotals {
  date: string;
  byModel: Record<ModelId, number>;
  totalMs: number;
}

/** Returns one entry per day, oldest first, including days without usage. Days are in UTC, as in the ledger. */
export function fillDays(input: { days: UsageDay[]; now: string; count: number }): DayTotals[] {
  const last = Date.parse(`${input.now.slice(0, 10)}T00:00:00Z`);
  return Array.from({ length: input.count }, (_, index) => {
    const date = new Date(last - (input.count - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    const byModel = { 'svc-asr-kikuyu-v1': 0, 'svc-asr-dholuo-v1': 0 };
    for (const day of input.days) if (day.date === date) byModel[day.model] += day.billable_ms;
    return { date, byModel, totalMs: MODEL_IDS.reduce((sum, model) => sum + byModel[model], 0) };
  });
}

/** Returns the top of the axis: the next round amount of audio above the highest bar. */
export function axisTop(highestMs: number): number {
  const steps = [10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 36_000, 86_400];
  const seconds = highestMs / 1_000;
  const step = steps.find((step) => step >= seconds);
  return (step ?? Math.ceil(seconds / 86_400) * 86_400) * 1_000;
}

/** For how many more days the credit lasts at the pace of these days. Null: nothing was used. */
export function daysLeft(availableMs: number, days: readonly DayTotals[]): number | null {
  const usedMs = days.reduce((sum, { totalMs }) => sum + totalMs, 0);
  return usedMs === 0 ? null : Math.floor((availableMs * days.length) / usedMs);
}
