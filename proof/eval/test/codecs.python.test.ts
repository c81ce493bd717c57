import { afterEach, expect, test, vi } from 'vitest';
import { codecFigures, presentCodecs, transcode } from '../src/codecs.ts';
import { addTo, emptyScore } from '../src/scoring.ts';

const SECOND = Buffer.from(
  Int16Array.from({ length: 16_000 }, (_, at) => 8_000 * Math.sin(at / 11)).buffer,
);

afterEach(() => vi.unstubAllEnvs());

test('every codec encodes a second of audio and decodes to about a second', async () => {
  const transcoded = await transcode(SECOND);
  for (const { codec, decoded } of transcoded) {
    expect(Math.abs(decoded.byteLength - SECOND.byteLength), codec.name).toBeLessThan(3_200);
  }
  const amr = transcoded.find(({ codec }) => codec.figure === 'amr_nb');
  // A header of 6 bytes and 50 frames of 32.
  expect(amr?.encodedBytes).toBe(1_606);
});

test('without the AMR-NB encoder the error says how to install it', async () => {
  vi.stubEnv('AMR_NB_LIBRARY', '/nowhere/libopencore-amrnb.so.0');
  await expect(transcode(SECOND)).rejects.toThrow('apt-get install libopencore-amrnb0');
});

test('presents bit rate, bytes and error rates of each codec', () => {
  const score = emptyScore();
  addTo(score, { spoken: 'nĩ wega mũno mũrata', recognised: 'nĩ wega mũno' });
  const result = {
    condition: 'x',
    language: 'ki',
    score,
    scoreWithoutTilde: score,
    scoredWords: [],
  } as const;
  const measured = [{ codec: 'Opus', figure: 'opus_16', kbitPerSecond: 15.31, results: [result] }];
  expect(presentCodecs(measured)).toContain('| Opus | 15.3 | 115 | 25.0 /');
  expect(codecFigures(measured)).toEqual({ kbit_opus_16: 15.3, wer_ki_opus_16: 25 });
});
