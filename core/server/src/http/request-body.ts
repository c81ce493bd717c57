import { SPECIFIC_MESSAGES } from '@svc-asr/protocol';
import { ApiError } from '../platform/api-error.ts';
import { hasDuplicateKey } from '../platform/database/duplicate-keys.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Ignores parameters, including charset: JSON is always UTF-8 (RFC 8259). */
const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;.*)?$/i;
const BYTE_ORDER_MARK = '\uFEFF';

type BodyProblem = keyof typeof SPECIFIC_MESSAGES.invalid_json;

export function isJsonMediaType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_MEDIA_TYPE.test(contentType);
}

/** Parses a body more strictly than JSON.parse: the bytes must be UTF-8, and a key may appear once per object. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.byteLength === 0) throw invalidJson('empty');
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw invalidJson('gzip');
  const text = decodeUtf8(bytes);
  if (text.startsWith(BYTE_ORDER_MARK)) throw invalidJson('byteOrderMark');
  const value = parse(text);
  if (hasDuplicateKey(text)) throw invalidJson('duplicateKey');
  return value;
}

function invalidJson(problem: BodyProblem): ApiError {
  return new ApiError('invalid_json', { message: SPECIFIC_MESSAGES.invalid_json[problem] });
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalidJson('notUtf8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError('invalid_json', { cause: error });
  }
}
