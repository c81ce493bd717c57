import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A recorded sentence. */
export const SPEECH_FILE = join(
  import.meta.dirname,
  '../../../../core/models/fixtures/kikuyu-1.wav',
);
export const SPEECH_MS = 2_941;

/** The formats that people send, as ffmpeg writes them. The names are file endings. */
export const FORMATS: Readonly<Record<string, readonly string[]>> = {
  wav: ['-c:a', 'pcm_s16le'],
  mp3: ['-c:a', 'libmp3lame'],
  m4a: ['-c:a', 'aac'],
  mp4: ['-c:a', 'aac'],
  ogg: ['-c:a', 'libvorbis'],
  opus: ['-c:a', 'libopus'],
  webm: ['-c:a', 'libopus'],
  mkv: ['-c:a', 'flac'],
  flac: ['-c:a', 'flac'],
  aac: ['-c:a', 'aac'],
  aiff: ['-c:a', 'pcm_s16be'],
  au: ['-c:a', 'pcm_mulaw'],
  caf: ['-c:a', 'alac'],
  wma: ['-c:a', 'wmav2'],
  avi: ['-c:a', 'libmp3lame'],
  flv: ['-c:a', 'aac'],
  ts: ['-c:a', 'aac'],
  wv: ['-c:a', 'wavpack'],
  '3gp': ['-c:a', 'aac'],
  mov: ['-c:a', 'pcm_s16le'],
};

/** Encodes a recording. `input` are ffmpeg's options before the output, by default the sentence. */
export async function encode(
  ending: string,
  input: readonly string[] = ['-i', SPEECH_FILE],
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'compatible-audio-'));
  try {
    const path = join(folder, `audio.${ending}`);
    const codec = FORMATS[ending] ?? [];
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...input, '-ar', '48000', ...codec, path]);
    return readFileSync(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}
