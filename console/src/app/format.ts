import type { ConsoleLanguage } from '@svc-asr/protocol/console.ts';
import type { Texts } from '../texts/en.ts';

/** Formats audio time: "4.2 s", "1 min 05 s", "2 h 3 min". */
export function formatAudio(ms: number, texts: Pick<Texts, 'time'>): string {
  const { hours, minutes, seconds } = texts.time;
  if (ms < 60_000) {
    const tenths = Math.round(ms / 100) / 10;
    return seconds(Number.isInteger(tenths) ? String(tenths) : tenths.toFixed(1));
  }
  const whole = Math.round(ms / 1_000);
  const h = Math.floor(whole / 3_600);
  const m = Math.floor((whole % 3_600) / 60);
  const s = whole % 60;
  if (h > 0) return m === 0 ? hours(h) : `${hours(h)} ${minutes(m)}`;
  return s === 0 ? minutes(m) : `${minutes(m)} ${seconds(String(s).padStart(2, '0'))}`;
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
