import { SPECIFIC_MESSAGES } from '@svc-asr/protocol';
import { ApiError } from '../platform/api-error.ts';
import { hasDuplicateKey } from '../platform/database/duplicate-keys.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Ignores parameters, including charset: JSON is always UTF-8 (RFC 8259). */
const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;.*)?$/i;
const FRACTION = /\d[.eE]/;
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
    const value: unknown = JSON.parse(text);
    return FRACTION.test(text) ? JSON.parse(text, exactly) : value;
  } catch (error) {
    throw new ApiError('invalid_json', { cause: error });
  }
}

/** Replaces a whole number that JavaScript made of a text that is none, such as 300.00000000000000001. NaN fits no schema. */
function exactly(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return isRounded(value, source) ? Number.NaN : value;
}

function isRounded(value: unknown, source: string | undefined): boolean {
  if (source === undefined || !Number.isInteger(value)) return false;
  const [digits = '', exponent = '0'] = source.toLowerCase().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const places = withoutZeros(fraction).length - Number(exponent);
  if (places <= 0) return false;
  const isMultiple = fraction === '' && whole.length - withoutZeros(whole).length >= places;
  return !isMultiple && value !== 0;
}

function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
