import type { Example } from './example.ts';

/** Two of the fixtures in core/models/fixtures. Written by `npm run examples`. */
export const EXAMPLES: readonly Example[] = [
  {
    model: 'svc-asr-kikuyu-v1',
    audio: '/examples/kikuyu-1.mp3',
    durationMs: 2941,
    envelope: [
      44, 83, 86, 42, 39, 39, 67, 80, 54, 32, 22, 58, 67, 49, 7, 6, 4, 4, 4, 4, 4, 23, 43, 52, 34,
      26, 64, 49, 15, 35, 84, 53, 32, 66, 42, 37, 70, 77, 34, 23, 65, 48, 17, 35, 59, 59, 100, 84,
      29, 34, 63, 49, 18, 6, 4, 4,
    ],
    words: [
      { text: 'wĩ', startMs: 0, endMs: 133 },
      { text: 'mwega', startMs: 133, endMs: 693 },
      { text: 'nĩndakena', startMs: 1013, endMs: 1813 },
      { text: 'nĩ', startMs: 1813, endMs: 1973 },
      { text: 'gũkuona', startMs: 1973, endMs: 2693 },
    ],
  },
  {
    model: 'svc-asr-dholuo-v1',
    audio: '/examples/dholuo-1.mp3',
    durationMs: 2866,
    envelope: [
      71, 53, 21, 78, 52, 19, 39, 74, 44, 67, 100, 61, 44, 86, 63, 80, 47, 34, 89, 70, 35, 37, 66,
      64, 27, 20, 51, 61, 85, 95, 53, 39, 24, 19, 38, 100, 70, 50, 46, 37, 80, 94, 67, 66, 41, 40,
      81, 66, 37, 51, 71, 59, 30, 9, 7, 4,
    ],
    words: [
      { text: 'erokamano', startMs: 0, endMs: 693 },
      { text: 'ahinya', startMs: 693, endMs: 1173 },
      { text: 'kuom', startMs: 1173, endMs: 1573 },
      { text: 'kony', startMs: 1653, endMs: 1973 },
      { text: 'ma', startMs: 1973, endMs: 2133 },
      { text: 'imiya', startMs: 2133, endMs: 2613 },
    ],
  },
];
