import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@svc-asr/protocol/json-object.ts';

const ENTRIES_MAX = 32;
const NAME_MAX = 64;
const VALUE_MAX = 500;
const LEG = /^[\w.-]{1,32}$/;
const CALL_ID = /^[\u0021-\u007e]{1,128}$/;

/** Custom parameters as strings. What is not a simple value, or too long, is left out. */
export function parametersOf(values: JsonObject): Record<string, string> {
  const entries = Object.entries(values).flatMap(([name, value]): [string, string][] => {
    if (!['string', 'number', 'boolean'].includes(typeof value)) return [];
    const written = String(value);
    return name.length <= NAME_MAX && written.length <= VALUE_MAX ? [[name, written]] : [];
  });
  return Object.fromEntries(entries.slice(0, ENTRIES_MAX));
}

/** The first usable id, or one of our own: every call has a name, and it can't forge a line of a log. */
export function callId(protocol: string, ...given: readonly (string | undefined | null)[]): string {
  return given.find((id) => id && CALL_ID.test(id)) ?? `${protocol}-${randomUUID()}`;
}

/** The name of a leg as the dialplan gives it. */
export function legName(given: string | null): string {
  return given !== null && LEG.test(given) ? given : 'caller';
}
