/**
 * One rule for text that people type, at every door: the console, its API and svc-admin. The patterns are for regular
 * expressions with the flag `u`, which JSON Schema uses.
 */

/**
 * Characters that are never part of a name or a sentence, as the inside of a character class: terminal controls, line and
 * paragraph separators, marks that reorder or annotate text, invisible tags and selectors, lone surrogates and
 * noncharacters.
 */
export const UNSAFE_CHARACTERS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069\\ufff9-\\ufffb\\ufffe\\uffff' +
  '\\u{e0000}-\\u{e0fff}\\ud800-\\udfff';

/** One line of text, possibly empty. */
export const LINE_PATTERN = `^[^${UNSAFE_CHARACTERS}]*$`;
/** One line of text with at least one visible character. */
export const NAME_PATTERN = `^(?=[^]*[\\p{L}\\p{N}\\p{P}\\p{S}])[^${UNSAFE_CHARACTERS}]+$`;
/** Several lines of text. */
export const TEXT_PATTERN = `^(?:[^${UNSAFE_CHARACTERS}]|[\\t\\n]|\\r\\n)*$`;
