import { ClientMessage, ServerEvent } from '@svc-asr/protocol';
import {
  RECORDED_CONVERSATION,
  RECORDED_EVENTS,
} from '@svc-asr/protocol/documents/recorded-examples.ts';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { Block } from './blocks.ts';

const ajv = new Ajv({ strict: false });
addFormats.default(ajv);

/** Returns what is wrong with the JSON of a block: documents, and messages as `> {...}` and `< {...}`. */
export function jsonProblems({ language, code }: Block): string[] {
  if (language === 'json') return documents(code).flatMap(documentProblems);
  const lines = code.replaceAll(/\n {3,}/g, '').split('\n');
  return lines.flatMap((line) => {
    const [, direction, text = ''] = /^([<>]) (\{.*)$/.exec(line) ?? [];
    if (direction === undefined) return [];
    const { value, isWhole } = parseAbridged(text);
    if (value === undefined) return [`not JSON: ${text}`];
    const problems = isWhole ? wireProblems(value, direction) : fieldProblems(value, direction);
    return [...problems, ...(direction === '<' ? differsFromRecorded(value) : [])];
  });
}

/** One document, or one on each line. */
function documents(code: string): string[] {
  return isJson(code) ? [code] : code.trim().split('\n');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const MESSAGE_TYPES = new Set(ClientMessage.anyOf.map(({ properties }) => properties.type.const));

function documentProblems(text: string): string[] {
  if (!isJson(text)) return [`not JSON: ${text}`];
  const value: unknown = JSON.parse(text);
  const { type } = Object(value);
  return MESSAGE_TYPES.has(type) ? wireProblems(value, '>') : [];
}

/** An example may leave out fields with `…` or `...`. */
function parseAbridged(text: string): { value: unknown; isWhole: boolean } {
  const isWhole = !/…|\.\.\./.test(text);
  const whole = text.replaceAll(/,? ?(?:…|\.\.\.)(?=[\]}])/g, '');
  return { value: isJson(whole) ? JSON.parse(whole) : undefined, isWhole };
}

function wireProblems(value: unknown, direction: string): string[] {
  const schema = direction === '>' ? ClientMessage : ServerEvent;
  return ajv.validate(schema, value) ? [] : [`${JSON.stringify(value)}: ${ajv.errorsText()}`];
}

/** The fields of an abridged message, each by its own schema. */
function fieldProblems(value: unknown, direction: string): string[] {
  const schemas = direction === '>' ? ClientMessage.anyOf : ServerEvent.anyOf;
  const { type, ...fields } = Object(value);
  const schema = schemas.find(({ properties }) => properties.type.const === type);
  if (schema === undefined) return [`unknown type ${String(type)}`];
  return Object.entries(fields).flatMap(([name, field]) => {
    const own: unknown = Reflect.get(schema.properties, name);
    if (own === undefined) return [`${String(type)} has no field ${name}`];
    return ajv.validate(Object(own), field) ? [] : [`${String(type)}.${name}: ${ajv.errorsText()}`];
  });
}

/** An event with the text of a recorded one must have its other values too. */
function differsFromRecorded(value: unknown): string[] {
  const event: Record<string, unknown> = Object(value);
  const recorded = Object.values<Record<string, unknown>>(RECORDED_EVENTS).find(
    ({ type, text, reason }) =>
      type === event['type'] &&
      text === event['text'] &&
      reason === event['reason'] &&
      text !== undefined,
  );
  if (recorded === undefined) return [];
  return [
    'utterance',
    'stable_chars',
    'start_ms',
    'end_ms',
    'audio_ms',
    'confidence',
    'billable_ms',
  ]
    .filter((name) => event[name] !== undefined && event[name] !== recorded[name])
    .map(
      (name) =>
        `${String(event['text'])}: ${name} is ${String(event[name])}, recorded ${String(recorded[name])}`,
    );
}

/** Returns the events of a block, after config, that differ from the recorded conversation. Deltas are not recorded. */
export function differsFromConversation({ code }: Block): string[] {
  const shown = code
    .replaceAll(/\n {3,}/g, '')
    .split('\n')
    .flatMap((line) => /^< (\{.*)$/.exec(line)?.[1] ?? [])
    .map((text): Record<string, unknown> => Object(parseAbridged(text).value))
    .filter(({ type }) => type !== 'delta');
  return shown.flatMap((event, at) => {
    const { words: _words, ...recorded }: Record<string, unknown> = {
      ...RECORDED_CONVERSATION[at],
    };
    const { words: _shown, ...stated } = event;
    return JSON.stringify(recorded) === JSON.stringify(stated) ? [] : [JSON.stringify(event)];
  });
}
