import { parseCtcTokens } from '../ctc/tokens.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';

/** Chunks of up to 1.28 s, the largest of icefall's recipes, in mel frames of 10 ms. */
const CHUNK_FRAMES_MAX = 128;
/** Four mel frames are one encoder frame. */
const SUBSAMPLING = 4;
const CONTEXT_TOKENS_MAX = 4;
/** Symbols of icefall's graphs that no model writes. */
const DISAMBIGUATION = /^#\d+$/;

/** Checks the files of a streaming Zipformer transducer. Returns the new mel frames of each of its chunks. */
export function checkZipformer(files: ReadonlyMap<string, Uint8Array>): {
  chunkFrames: number;
  problems: string[];
} {
  const problems: string[] = [];
  const metadataOf = (file: string): ReadonlyMap<string, string> | null => {
    const bytes = files.get(file);
    if (bytes === undefined) return null;
    const metadata = readOnnxMetadata(bytes);
    if (metadata === null) problems.push(`files.${file} is not an ONNX file`);
    return metadata;
  };
  const encoder = metadataOf('encoder');
  const decoder = metadataOf('decoder');
  metadataOf('joiner');
  const chunkFrames = encoder === null ? 0 : checkEncoder(encoder, problems);
  const tokens = files.get('tokens');
  if (decoder !== null) checkDecoder(decoder, tokens, problems);
  return { chunkFrames, problems };
}

function checkEncoder(metadata: ReadonlyMap<string, string>, problems: string[]): number {
  const type = metadata.get('model_type');
  if (type !== 'zipformer2') {
    problems.push(`files.encoder has model_type ${type ?? 'missing'}; it must be zipformer2`);
  }
  if (metadata.get('feature') === 'whisper') {
    problems.push("files.encoder takes Whisper's features; the engine computes Kaldi's");
  }
  const chunkFrames = Number(metadata.get('decode_chunk_len') ?? Number.NaN);
  const windowFrames = Number(metadata.get('T') ?? Number.NaN);
  if (!Number.isInteger(chunkFrames) || !Number.isInteger(windowFrames)) {
    problems.push(
      'files.encoder lacks decode_chunk_len or T in its metadata, so it is not a streaming model; ' +
        "export one with icefall's export-onnx-streaming.py",
    );
    return 0;
  }
  const isWhole = chunkFrames % SUBSAMPLING === 0 && windowFrames > chunkFrames;
  if (!isWhole || chunkFrames < SUBSAMPLING || chunkFrames > CHUNK_FRAMES_MAX) {
    problems.push(
      `files.encoder has decode_chunk_len ${chunkFrames} and T ${windowFrames}; the first must be a ` +
        `multiple of ${SUBSAMPLING} up to ${CHUNK_FRAMES_MAX}, the second larger`,
    );
  }
  return chunkFrames;
}

function checkDecoder(
  metadata: ReadonlyMap<string, string>,
  tokens: Uint8Array | undefined,
  problems: string[],
): void {
  const context = Number(metadata.get('context_size') ?? Number.NaN);
  if (!Number.isInteger(context) || context < 1 || context > CONTEXT_TOKENS_MAX) {
    problems.push(
      `files.decoder must have a context_size from 1 to ${CONTEXT_TOKENS_MAX} in its metadata`,
    );
  }
  const size = Number(metadata.get('vocab_size') ?? Number.NaN);
  if (!Number.isInteger(size)) {
    problems.push('files.decoder lacks the whole number vocab_size in its metadata');
  }
  if (tokens === undefined) return;
  const parsed = parseCtcTokens(Buffer.from(tokens).toString('utf8'));
  if (typeof parsed === 'string') {
    problems.push(parsed);
    return;
  }
  if (parsed.blank !== 0) problems.push('files.tokens: <blk> must be the first token');
  const count = parsed.texts.filter((text) => !DISAMBIGUATION.test(text)).length;
  if (Number.isInteger(size) && count !== size) {
    problems.push(`files.decoder has vocab_size ${size} in its metadata, but tokens has ${count}`);
  }
}
