import { InvalidArgumentError } from 'commander';
import { LINE_PATTERN, NAME_PATTERN } from '@svc-asr/protocol/text-rules.ts';
import { parseEmail } from '../accounts/people/email-address.ts';

const LINE = new RegExp(LINE_PATTERN, 'u');
const NAME = new RegExp(NAME_PATTERN, 'u');
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DATE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}:\d{2}Z)?$/;
const DURATION = /^(\d+)(ms|s|m|h)$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
/** A thousand years of audio. More is a typing error. */
const CREDIT_MS_MAX = 1_000 * 365 * 24 * 3_600_000;

export function parseUuid(text: string): string {
  if (UUID.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID. The `list` commands show ids.');
}

/** Parses a reason that the ledger accepts. */
export const parseReason = parseText(1, 500);

/** Parses audio time with its unit, so that minutes are not granted as milliseconds. */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = DURATION.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (Number.isSafeInteger(ms) && ms > 0 && ms <= CREDIT_MS_MAX) return ms;
  throw new InvalidArgumentError('Give a number and its unit: 90s, 30m, 2h or 1500ms.');
}

export function parseCount(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

export function parseText(min: number, max: number): (text: string) => string {
  return (text) => {
    if (text.trim().length < min || text.length > max) {
      throw new InvalidArgumentError(`It must have ${min} to ${max} characters.`);
    }
    if ((min > 0 ? NAME : LINE).test(text)) return text;
    throw new InvalidArgumentError(
      'It must be one line of visible text, without control characters or invisible tags.',
    );
  };
}

/** Parses the origin of a service, without a slash at its end. */
export function parseServiceUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/') return url.origin;
  throw new InvalidArgumentError('It must be an address such as https://api.example.');
}

export function parseEmailArgument(text: string): string {
  const email = parseEmail(text);
  if (email !== null) return email;
  throw new InvalidArgumentError('It must be an address such as ops@radio.example.');
}

const MOMENT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(?::\d{2})?Z$/;

/** Parses a time that has come, in UTC. */
export function parsePast(text: string): Date {
  const [, minute] = MOMENT.exec(text) ?? [];
  const date = new Date(text);
  if (
    minute === undefined ||
    Number.isNaN(date.getTime()) ||
    !date.toISOString().startsWith(minute)
  ) {
    throw new InvalidArgumentError('It must be a time in UTC such as 2027-01-31T12:00Z.');
  }
  if (date.getTime() <= Date.now()) return date;
  throw new InvalidArgumentError('It is in the future. Give a time that has come.');
}

/** Parses a future time. Rejects dates such as 2027-02-31, which JavaScript reads as 3 March. */
export function parseExpiry(text: string): Date {
  const [, day] = DATE.exec(text) ?? [];
  const date = new Date(text);
  if (day === undefined || Number.isNaN(date.getTime()) || !date.toISOString().startsWith(day)) {
    throw new InvalidArgumentError('It must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.');
  }
  if (date.getTime() > Date.now()) return date;
  throw new InvalidArgumentError('It is in the past, so the key would never work.');
}
