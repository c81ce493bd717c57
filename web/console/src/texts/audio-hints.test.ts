import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explainAudioHint } from './audio-hints.ts';

const SERVER = join(import.meta.dirname, '../../../../core/server/src/gateway/audio-check');
const HINT = /'((?:This|The first second|Most samples) [^'\n]+\.)'/g;

test('every hint of the server about audio has a Swahili text, and stays as it is in English', () => {
  const hints = readdirSync(SERVER)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(join(SERVER, name), 'utf8').matchAll(HINT)])
    .map(([, hint = '']) => hint);
  expect(hints.length).toBeGreaterThanOrEqual(18);
  expect(hints.filter((hint) => explainAudioHint(hint, 'sw') === hint)).toEqual([]);
  for (const hint of hints) expect(explainAudioHint(hint, 'en')).toBe(hint);
});
