import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { cues, toSrt, toVtt } from '../src/captions.ts';
import type { FinalEvent } from '../src/events.ts';

interface Vector {
  readonly name: string;
  readonly finals: readonly Pick<FinalEvent, 'words' | 'entities'>[];
  readonly srt: string;
  readonly vtt: string;
}

/** The Python SDK passes them too. */
const VECTORS: readonly Vector[] = JSON.parse(
  await readFile(new URL('../vectors/captions.json', import.meta.url), 'utf8'),
);

test.each(VECTORS)('subtitles: $name', ({ finals, srt, vtt }) => {
  expect(toSrt(cues(finals))).toBe(srt);
  expect(toVtt(cues(finals))).toBe(vtt);
});
