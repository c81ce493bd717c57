/**
 * Everything that controls a terminal (C0 except the line feed, DEL, C1), ends a line in some
 * viewers, or reorders text on the screen.
 */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Writes control characters as \uXXXX: safe to print, and still valid inside a JSON string. */
export function escapeControls(text: string): string {
  return text.replace(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
