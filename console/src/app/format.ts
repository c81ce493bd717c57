import type { ConsoleLanguage } from '@svc-asr/protocol/console.ts';
import type { Texts } from '../texts/en.ts';

/** Formats audio time: "4.2 s", "1 min 05 s", "2 h 3 min 04 s". */
export function formatAudio(ms: number, texts: Pick<Texts, 'time'>): string {
  const { hours, minutes, seconds } = texts.time;
  const tenths = Math.round(ms / 100) / 10;
  if (tenths < 60) return seconds(Number.isInteger(tenths) ? String(tenths) : tenths.toFixed(1));
  const whole = Math.round(ms / 1_000);
  const h = Math.floor(whole / 3_600);
  const m = Math.floor((whole % 3_600) / 60);
  const s = whole % 60;
  // To the second, so that parts add up to their sum.
  const parts = [
    ...(h > 0 ? [hours(h)] : []),
    ...(m > 0 ? [minutes(m)] : []),
    ...(s > 0 ? [seconds(String(s).padStart(2, '0'))] : []),
  ];
  return parts.join(' ');
}

/** Formats a wait, rounded up: "40 s", "5 min", "1 h". */
export function formatWait(ms: number, texts: Pick<Texts, 'time'>): string {
  const unit = ms < 90_000 ? 1_000 : 60_000;
  return formatAudio(Math.ceil(ms / unit) * unit, texts);
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** Formats a relative time such as "3 min. ago", using the server's clock and not the device's. */
export function formatAgo(input: { at: string; now: string; language: ConsoleLanguage }): string {
  const ms = Date.parse(input.at) - Date.parse(input.now);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? ['second', 1_000];
  const format = new Intl.RelativeTimeFormat(input.language, { numeric: 'auto', style: 'short' });
  return format.format(Math.round(ms / size), unit);
}

export function formatDate(at: string, language: ConsoleLanguage): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(new Date(at));
}

export function formatDateTime(at: string, language: ConsoleLanguage): string {
  const format = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat(language, format).format(new Date(at));
}

/** Formats a time of day: "15:22". */
export function formatTime(at: number, language: ConsoleLanguage): string {
  const format = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat(language, format).format(at);
}

/** Formats a running clock: "0:28". */
export function formatClock(ms: number): string {
  const whole = Math.floor(ms / 1_000);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
