import type { ModelId } from '@svc-asr/protocol';

/** Two of the fixtures in models/fixtures, with what the service answered when they were streamed to it. */
export interface Example {
  readonly model: ModelId;
  readonly audio: string;
  readonly durationMs: number;
  /** Loudness along the recording, 0 to 100. */
  readonly envelope: readonly number[];
  readonly words: readonly {
    readonly text: string;
    readonly startMs: number;
    readonly endMs: number;
  }[];
}

export const EXAMPLES: readonly Example[] = [
  {
    model: 'svc-asr-kikuyu-v1',
    audio: '/examples/kikuyu-2.mp3',
    durationMs: 3_498,
    envelope: [
      26, 74, 55, 78, 30, 48, 91, 37, 45, 55, 78, 60, 39, 73, 28, 57, 77, 61, 62, 34, 34, 52, 100,
      35, 40, 83, 56, 14, 47, 77, 21, 85, 86, 25, 68, 55, 41, 85, 72, 21, 61, 41, 37, 88, 63, 32,
      30, 44, 92, 61, 20, 43, 69, 60, 32, 4,
    ],
    words: [
      { text: 'maitũ', startMs: 0, endMs: 440 },
      { text: 'nĩarathiĩ', startMs: 440, endMs: 1_180 },
      { text: 'ndũnyũ', startMs: 1_180, endMs: 1_680 },
      { text: 'kũgũra', startMs: 1_680, endMs: 2_200 },
      { text: 'waru', startMs: 2_200, endMs: 2_560 },
      { text: 'na', startMs: 2_560, endMs: 2_800 },
      { text: 'mboga', startMs: 2_800, endMs: 3_400 },
    ],
  },
  {
    model: 'svc-asr-dholuo-v1',
    audio: '/examples/dholuo-1.mp3',
    durationMs: 2_866,
    envelope: [
      71, 53, 21, 78, 52, 19, 39, 74, 44, 67, 100, 61, 44, 86, 63, 80, 48, 34, 89, 70, 35, 37, 66,
      64, 27, 20, 51, 61, 85, 94, 53, 39, 24, 19, 38, 99, 71, 50, 46, 37, 80, 94, 67, 66, 41, 40,
      81, 66, 36, 51, 71, 59, 30, 9, 7, 4,
    ],
    words: [
      { text: 'erokamano', startMs: 0, endMs: 720 },
      { text: 'ahinya', startMs: 720, endMs: 1_200 },
      { text: 'kuom', startMs: 1_200, endMs: 1_560 },
      { text: 'kony', startMs: 1_560, endMs: 1_960 },
      { text: 'ma', startMs: 1_960, endMs: 2_160 },
      { text: 'imiya', startMs: 2_160, endMs: 2_700 },
    ],
  },
];
