import { UNSAFE_CHARACTERS } from '@svc-asr/protocol/text-rules.ts';

/** The same characters that forms refuse, except the line feed. */
const UNSAFE = new RegExp(`(?!\\n)[${UNSAFE_CHARACTERS}]`, 'gu');

/** Writes unsafe characters as \uXXXX: safe to print, and still valid inside a JSON string. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, escapeUnits);
}

/** A character above U+FFFF has two units. */
function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
