import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { formatDate, zoneName } from './format.ts';

const DAY_LENGTH = '2026-11-19'.length;
const OFFSET_AT = '2026-11-19T00:00:00'.length;

/** When a day begins in the time zone of this browser: "2026-11-19T00:00:00+03:00". In UTC it is only the day. */
export function startOfDay(day: string): string {
  const east = -new Date(`${day}T00:00`).getTimezoneOffset();
  if (east === 0 || Number.isNaN(east)) return day;
  const minutes = Math.abs(east);
  return `${day}T00:00:00${east < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** The day of such a filter, for a field. */
export function dayOf(value: string): string {
  return value.slice(0, DAY_LENGTH);
}

/** The day of such a filter for people, and the zone that it is meant in: somebody in another one may have set it. */
export function describeDay(
  value: string,
  language: ConsoleLanguage,
): { readonly day: string; readonly zone: string } {
  const day = dayOf(value);
  const isDay = !Number.isNaN(Date.parse(day));
  return {
    day: isDay ? formatDate(`${day}T12:00`, language) : value,
    zone: value === startOfDay(day) ? zoneName(language) : value.slice(OFFSET_AT) || 'UTC',
  };
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
