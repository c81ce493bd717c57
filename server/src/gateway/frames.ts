import { isUtf8 } from 'node:buffer';
import type { ServerEvent } from '@svc-asr/protocol';

/** What a text message turned out to be. Values of config are judged by the rules of the stream, not here. */
export type TextMessage =
  | {
      readonly type: 'config';
      readonly id: string | undefined;
      readonly language: unknown;
      readonly context: unknown;
      readonly ignored: readonly string[];
    }
  | { readonly type: 'flush'; readonly id: string | undefined }
  | { readonly type: 'reset'; readonly id: string | undefined }
  | { readonly type: 'invalid'; readonly code: 'invalid_message' | 'unknown_message_type' };

const NESTING_MAX = 8;
const ID_LENGTH_MAX = 128;
const IGNORED_NAMES_MAX = 16;
const IGNORED_NAME_LENGTH_MAX = 64;
const CONFIG_FIELDS = new Set(['type', 'id', 'language', 'context']);
const INVALID: TextMessage = { type: 'invalid', code: 'invalid_message' };
const UNKNOWN: TextMessage = { type: 'invalid', code: 'unknown_message_type' };

/** Bytes that are no UTF-8 end the stream, so they are told apart from text that is merely wrong. */
export function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes);
}

export function parseTextMessage(bytes: Buffer): TextMessage {
  const fields = parseObject(bytes.toString('utf8'));
  if (fields === null) return INVALID;
  const { type, id } = fields;
  if (typeof type !== 'string') return INVALID;
  if (id !== undefined && (typeof id !== 'string' || id.length > ID_LENGTH_MAX)) return INVALID;
  if (type === 'flush' || type === 'reset') return { type, id };
  if (type !== 'config') return UNKNOWN;
  return {
    type,
    id,
    language: fields['language'],
    context: fields['context'],
    ignored: Object.keys(fields)
      .filter((name) => !CONFIG_FIELDS.has(name))
      .slice(0, IGNORED_NAMES_MAX)
      .map((name) => name.slice(0, IGNORED_NAME_LENGTH_MAX)),
  };
}

export function encodeEvent(event: ServerEvent): string {
  return JSON.stringify(event);
}

function parseObject(text: string): Record<string, unknown> | null {
  if (isDeep(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Brackets inside strings count too: a message that needs so many is not one of ours. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > NESTING_MAX) return true;
  }
  return false;
}
