import { readFileSync } from 'node:fs';
import { ZIPFORMER, ZIPFORMER_CHUNK_FRAMES } from '@svc-asr/testing/speech/stand-in.ts';
import { expect, test } from 'vitest';
import { checkZipformer } from '../src/weights/zipformer-check.ts';

/** The stand-in's files, with one text replaced by another of the same length. */
function filesWith(
  change: { readonly file: keyof typeof ZIPFORMER; from: string; to: string } | null,
): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const [file, path] of Object.entries(ZIPFORMER)) {
    const bytes = readFileSync(path);
    if (change?.file === file) {
      const at = bytes.indexOf(change.from);
      if (at < 0 || change.from.length !== change.to.length) throw new Error('no such text');
      bytes.write(change.to, at);
    }
    files.set(file, bytes);
  }
  return files;
}

test('accepts the files of a streaming export and reads the length of its chunks', () => {
  expect(checkZipformer(filesWith(null))).toEqual({
    chunkFrames: ZIPFORMER_CHUNK_FRAMES,
    problems: [],
  });
});

test.each([
  ['another network', 'encoder', 'zipformer2', 'conformer2', /it must be zipformer2/],
  ['no chunks', 'encoder', 'decode_chunk_len', 'DECODE_CHUNK_LEN', /is not a streaming model/],
  ['a decoder without context', 'decoder', 'context_size', 'CONTEXT_SIZE', /context_size from 1/],
  ['a decoder without size', 'decoder', 'vocab_size', 'VOCAB_SIZE', /lacks the whole number/],
  [
    'the blank elsewhere',
    'tokens',
    '<blk> 0\n<sos/eos> 1',
    '<sos/eos> 0\n<blk> 1',
    /must be the first/,
  ],
] as const)('refuses %s', (_name, file, from, to, sentence) => {
  expect(checkZipformer(filesWith({ file, from, to })).problems.join('\n')).toMatch(sentence);
});

test('refuses tokens of another model, and files that are not ONNX', () => {
  const files = filesWith(null);
  const tokens = readFileSync(ZIPFORMER.tokens, 'utf8');
  files.set('tokens', Buffer.from(`${tokens}a 100\n`));
  expect(checkZipformer(files).problems).toEqual([
    'files.decoder has vocab_size 100 in its metadata, but tokens has 101',
  ]);
  files.set('tokens', Buffer.from(`${tokens}#0 100\n`));
  expect(checkZipformer(files).problems).toEqual([]);
  files.set('joiner', Buffer.from('hello'));
  expect(checkZipformer(files).problems).toEqual(['files.joiner is not an ONNX file']);
});
