import { isUtf8 } from 'node:buffer';
import { ConfigMessage, Endpointing, type ServerEvent } from '@svc-asr/protocol';
import { hasDuplicateKey } from '../../platform/database/duplicate-keys.ts';
import { isMessageId, parseWithExactIds } from './exact-ids.ts';

/** Chosen by the client and returned as sent. */
export type MessageId = string | number;

/** A parsed text message. The stream's rules validate the values of config later. */
export type TextMessage =
  | {
      readonly type: 'config';
      readonly id: MessageId | undefined;
      readonly language: unknown;
      readonly context: unknown;
      /** Undefined when the message says nothing about it. */
      readonly endpointing: unknown;
      readonly keyterms: unknown;
      readonly numbers: unknown;
      readonly continues: unknown;
      /** The names of all its fields, except `type` and `id`. */
      readonly fields: readonly string[];
      readonly ignored: readonly string[];
    }
  | { readonly type: 'flush'; readonly id: MessageId | undefined }
  | { readonly type: 'reset'; readonly id: MessageId | undefined }
  | {
      readonly type: 'invalid';
      readonly code: 'invalid_message' | 'unknown_message_type';
      readonly id: MessageId | undefined;
    };

const NESTING_MAX = 8;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const IGNORED_NAMES_MAX = 16;
const IGNORED_NAME_LENGTH_MAX = 64;
const FRAME_FIELDS = new Set(['type', 'id']);
const CONFIG_FIELDS = new Set(Object.keys(ConfigMessage.properties));
const ENDPOINTING_FIELDS = new Set(Object.keys(Endpointing.properties));
const INVALID: TextMessage = { type: 'invalid', code: 'invalid_message', id: undefined };

/** Invalid UTF-8 ends the stream, so it is distinguished from other invalid messages. */
export function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes);
}

export function parseTextMessage(bytes: Buffer): TextMessage {
  const fields = parseObject(bytes.toString('utf8'));
  if (fields === null) return INVALID;
  const { type, id } = fields;
  if (id !== undefined && !isMessageId(id)) return INVALID;
  if (typeof type !== 'string') return { ...INVALID, id };
  if (type === 'flush' || type === 'reset') return { type, id };
  if (type !== 'config') return { type: 'invalid', code: 'unknown_message_type', id };
  return {
    type,
    id,
    language: fields['language'],
    context: fields['context'],
    endpointing: fields['endpointing'],
    keyterms: fields['keyterms'],
    numbers: fields['numbers'],
    continues: fields['continues'],
    fields: shortList(unknownNames(fields, FRAME_FIELDS)),
    ignored: shortList([
      ...unknownNames(fields, CONFIG_FIELDS),
      ...unknownNames(fields['endpointing'], ENDPOINTING_FIELDS).map(
        (name) => `endpointing.${name}`,
      ),
    ]),
  };
}

function shortList(names: readonly string[]): string[] {
  return names.slice(0, IGNORED_NAMES_MAX).map((name) => name.slice(0, IGNORED_NAME_LENGTH_MAX));
}

function unknownNames(fields: unknown, known: ReadonlySet<string>): string[] {
  return isRecord(fields) ? Object.keys(fields).filter((name) => !known.has(name)) : [];
}

/** True for a command that was sent as a binary frame, which would otherwise count as audio. */
export function isCommand(frame: Uint8Array): boolean {
  if (frame[0] !== OPENING_BRACE || frame.at(-1) !== CLOSING_BRACE) return false;
  return isUtf8(frame) && parseTextMessage(Buffer.from(frame)).type !== 'invalid';
}

export function encodeEvent(event: ServerEvent): string {
  return JSON.stringify(event);
}

function parseObject(text: string): Record<string, unknown> | null {
  if (isDeep(text)) return null;
  try {
    const value = parseWithExactIds(text);
    return isRecord(value) && !hasDuplicateKey(text) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Counts brackets inside strings too. No valid message has this many. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > NESTING_MAX) return true;
  }
  return false;
}
