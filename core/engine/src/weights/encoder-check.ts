import { readOnnxMetadata } from './onnx-metadata.ts';

/** One encoder frame; the family's subsampling is 8 mel frames of 10 ms. */
export const FRAME_SAMPLES = 1_280;
const MEL_FRAME_SAMPLES = 160;
const BLANK = '<blk>';

/** Metadata keys that sherpa-onnx requires. Without them it exits the process while loading. */
const WHOLE_NUMBER_METADATA = [
  'vocab_size',
  'window_size',
  'chunk_shift',
  'subsampling_factor',
  'cache_last_channel_dim1',
  'cache_last_channel_dim2',
  'cache_last_channel_dim3',
  'cache_last_time_dim1',
  'cache_last_time_dim2',
  'cache_last_time_dim3',
  'pred_rnn_layers',
  'pred_hidden',
] as const;

/** Returns the number of tokens without the blank, or a sentence with the problem. */
export function countTokens(text: string): number | string {
  const lines = text.trimEnd().split('\n');
  const misplaced = lines.findIndex((line, index) => !line.endsWith(` ${index}`));
  if (misplaced >= 0) {
    return `files.tokens: line ${misplaced + 1} must be a token, a space and ${misplaced}`;
  }
  if (lines.at(-1) !== `${BLANK} ${lines.length - 1}`) {
    return `files.tokens: ${BLANK} must be the last token`;
  }
  return lines.length - 1;
}

/** Lists every mismatch between the encoder's metadata and the manifest. */
export function checkEncoder(
  bytes: Uint8Array,
  model: {
    readonly language: string;
    readonly contextSize: readonly [number, number];
    readonly tokenCount: number | null;
  },
): string[] {
  const metadata = readOnnxMetadata(bytes);
  if (metadata === null) return ['files.encoder is not an ONNX file'];
  const problems: string[] = [];
  const numbers = new Map<string, number>();
  for (const key of WHOLE_NUMBER_METADATA) {
    const value = Number(metadata.get(key) ?? Number.NaN);
    if (Number.isInteger(value)) numbers.set(key, value);
    else problems.push(`files.encoder lacks the whole number ${key} in its metadata`);
  }
  function agree(key: (typeof WHOLE_NUMBER_METADATA)[number], wanted: number, why: string): void {
    const actual = numbers.get(key);
    if (actual === undefined || actual === wanted) return;
    problems.push(`files.encoder has ${key} ${actual} in its metadata, but ${why} is ${wanted}`);
  }
  const [left, right] = model.contextSize;
  const chunkShift = ((right + 1) * FRAME_SAMPLES) / MEL_FRAME_SAMPLES;
  agree('cache_last_channel_dim2', left, 'the left context');
  agree('chunk_shift', chunkShift, 'the chunk in mel frames');
  agree('subsampling_factor', FRAME_SAMPLES / MEL_FRAME_SAMPLES, "the family's factor");
  if (model.tokenCount !== null) {
    agree('vocab_size', model.tokenCount, 'the number of tokens without the blank');
  }
  const prompt = checkPrompt(metadata.get('prompt_dictionary'), model.language);
  return prompt === null ? problems : [...problems, prompt];
}

/** An encoder without prompts serves one language and takes any. */
function checkPrompt(dictionary: string | undefined, language: string): string | null {
  if (dictionary === undefined || language === '') return null;
  const prompts = parseObject(dictionary);
  if (prompts === null) {
    return 'files.encoder has a prompt_dictionary that is not a JSON object';
  }
  if (Object.hasOwn(prompts, language)) return null;
  const known = Object.keys(prompts).join(', ');
  return `language ${language} is not one the encoder was trained with: ${known}`;
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
