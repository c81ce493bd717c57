import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import type { Texts } from '../texts/en.ts';

/** Formats audio time: "4.2 s", "1 min 05 s", "2 h 03 min 04 s". */
export function formatAudio(ms: number, texts: Pick<Texts, 'time'>): string {
  return partsOf(ms, texts).join(' ');
}

/** The same for a figure that stands alone. It can wrap, but never between a number and its unit. */
export function formatFigure(ms: number, texts: Pick<Texts, 'time'>): string {
  return partsOf(ms, texts)
    .map((part) => part.replace(' ', '\u00a0'))
    .join(' ');
}

function partsOf(ms: number, texts: Pick<Texts, 'time'>): string[] {
  const { hours, minutes, seconds } = texts.time;
  const tenths = Math.round(ms / 100) / 10;
  if (tenths < 60) return [seconds(Number.isInteger(tenths) ? String(tenths) : tenths.toFixed(1))];
  const whole = Math.round(ms / 1_000);
  const h = Math.floor(whole / 3_600);
  const m = Math.floor((whole % 3_600) / 60);
  const s = whole % 60;
  // To the second, so that parts add up to their sum.
  return [
    ...(h > 0 ? [hours(h)] : []),
    ...(m > 0 ? [minutes(h > 0 ? twoDigits(m) : String(m))] : []),
    ...(s > 0 ? [seconds(twoDigits(s))] : []),
  ];
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Formats audio time to the millisecond: "1.001 s", "1 min 05.2 s". For receipts, where tenths could hide the reason. */
export function formatExact(ms: number, texts: Pick<Texts, 'time'>): string {
  const rest = ms % 60_000;
  const whole = ms - rest;
  const parts = [
    ...(whole > 0 ? [formatAudio(whole, texts)] : []),
    ...(rest > 0 || whole === 0 ? [texts.time.seconds(secondsOf(rest, whole > 0))] : []),
  ];
  return parts.join(' ');
}

function secondsOf(ms: number, isPadded: boolean): string {
  const text = String(ms / 1_000);
  return isPadded && ms < 10_000 ? `0${text}` : text;
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

/** Languages as Intl names them. "en" alone would write months before days, and 12 hours. */
export const LOCALES: Record<ConsoleLanguage, string> = { en: 'en-GB', sw: 'sw' };

/** A format of Intl takes half a millisecond to make, and a table has hundreds of cells. */
function perLanguage<T>(make: (locale: string) => T): (language: ConsoleLanguage) => T {
  const made = new Map<ConsoleLanguage, T>();
  return (language) => {
    const format = made.get(language) ?? make(LOCALES[language]);
    made.set(language, format);
    return format;
  };
}

/** Whole and decimal numbers. */
export const numberFormat = perLanguage((locale) => new Intl.NumberFormat(locale));
/** Every time of day has its zone, so that two people can compare notes. */
const ZONED = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const;
/** A date and a time of day with seconds, for a table whose head names the zone. */
export const momentFormat = perLanguage(
  (locale) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }),
);
/** A date, a time of day with seconds and its time zone. */
export const zonedFormat = perLanguage(
  (locale) => new Intl.DateTimeFormat(locale, { ...ZONED, second: '2-digit' }),
);
const relativeTime = perLanguage(
  (locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
);
const date = perLanguage((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
const dateTime = perLanguage((locale) => new Intl.DateTimeFormat(locale, ZONED));
const bareDateTime = perLanguage(
  (locale) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' }),
);
const timeOfDay = perLanguage(
  (locale) =>
    new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
);

/** Formats a relative time such as "3 min ago", using the server's clock and not the device's. */
export function formatAgo(input: { at: string; now: string; language: ConsoleLanguage }): string {
  const ms = Date.parse(input.at) - Date.parse(input.now);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? ['second', 1_000];
  return relativeTime(input.language).format(Math.round(ms / size), unit);
}

export function formatDate(at: string, language: ConsoleLanguage): string {
  return date(language).format(new Date(at));
}

export function formatDateTime(at: string, language: ConsoleLanguage): string {
  return dateTime(language).format(new Date(at));
}

/** Formats a time for a table whose head names the zone. */
export function formatInZone(at: string, language: ConsoleLanguage): string {
  return bareDateTime(language).format(new Date(at));
}

/** Formats a time of day: "15:22". */
export function formatTime(at: number, language: ConsoleLanguage): string {
  return timeOfDay(language).format(at);
}

/** Formats a running clock: "0:28". */
export function formatClock(ms: number): string {
  const whole = Math.floor(ms / 1_000);
  return `${Math.floor(whole / 60)}:${twoDigits(whole % 60)}`;
}

/** The short name of the time zone of this browser, such as "GMT+3". */
export function zoneName(language: ConsoleLanguage): string {
  const parts = dateTime(language).formatToParts(new Date());
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}
