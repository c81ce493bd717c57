import { expect, test } from 'vitest';
import { countWordErrors, normalise, withoutTilde } from '../src/word-errors.ts';

test('counts wrong, missing and extra words, whatever the case and punctuation', () => {
  const reference = "Mama dhi e chiro mondo ong'iew rech.";
  expect(countWordErrors(reference, "mama dhi e chiro mondo ong'iew rech").errors).toBe(0);
  expect(countWordErrors(reference, 'mama dhi chiro mondo ongiew rech kawuono')).toEqual({
    words: 7,
    errors: 3,
  });
});

test('keeps the apostrophe of ng’ only, and look-alike letters are the same letter', () => {
  expect(normalise('Ng’ombe d’un ñ, ŪMŪTHĪ')).toBe("ng'ombe dun ũmũthĩ");
  expect(withoutTilde(normalise('Nĩ gũkuona'))).toBe('ni gukuona');
});
