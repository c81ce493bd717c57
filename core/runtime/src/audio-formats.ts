/** A file format that is recognised by its first bytes. ffmpeg gets its name, so a file can't choose another reader. */
export interface FileFormat {
  /** ffmpeg's name of the reader. */
  readonly demuxer: string;
  /** The reader jumps in the file, so it can't read from a pipe. */
  readonly seeks: boolean;
}

/** Most formats show in this many bytes. */
export const KIND_BYTES = 12;
/** No format needs more. */
export const HEAD_BYTES = 512;
export const FORMAT_NAMES =
  'WAV, MP3, M4A, MP4, OGG, Opus, WebM, Matroska, FLAC, AAC, AMR, AIFF, AU, CAF, WMA, AVI, FLV, MPEG or WavPack';

const pipe = (demuxer: string): FileFormat => ({ demuxer, seeks: false });
const file = (demuxer: string): FileFormat => ({ demuxer, seeks: true });

/** Bytes at the start of a file. */
const SIGNATURES: readonly (readonly [string, FileFormat])[] = [
  ['OggS', pipe('ogg')],
  ['\u001AE\u00DF\u00A3', pipe('matroska')],
  ['fLaC', pipe('flac')],
  ['ID3', pipe('mp3')],
  ['#!AMR', pipe('amr')],
  ['.snd', pipe('au')],
  ['caff', file('caf')],
  ['0&\u00B2u', pipe('asf')],
  ['FLV', pipe('flv')],
  ['wvpk', pipe('wv')],
  ['RF64', pipe('wav')],
  ['\u0000\u0000\u0001\u00BA', pipe('mpeg')],
];
/** Containers with their kind after a length. */
const KINDS: Readonly<Record<string, readonly (readonly [string, FileFormat])[]>> = {
  RIFF: [
    ['WAVE', pipe('wav')],
    ['AVI ', pipe('avi')],
  ],
  RIFX: [['WAVE', pipe('wav')]],
  FORM: [
    ['AIFF', pipe('aiff')],
    ['AIFC', pipe('aiff')],
  ],
};
/** The first box of MP4, M4A, MOV and 3GP. Its index may be at the end. */
const BOXES: ReadonlySet<string> = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip']);
const TS_PACKET_BYTES = 188;
const TS_SYNC = 0x47;

/** Null for anything that is not a known audio or video file, such as a playlist, a page or a picture. */
export function detectFormat(head: Uint8Array): FileFormat | null {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  const start = text.slice(0, 4);
  const kind = KINDS[start]?.find(([name]) => text.startsWith(name, 8));
  if (kind !== undefined) return kind[1];
  const signature = SIGNATURES.find(([bytes]) => text.startsWith(bytes));
  if (signature !== undefined) return signature[1];
  if (BOXES.has(text.slice(4, 8))) return file('mov');
  if (head[0] === TS_SYNC && head[TS_PACKET_BYTES] === TS_SYNC) return pipe('mpegts');
  return detectFrames(head);
}

/** MP3 and AAC frames without a header begin with eleven or twelve set bits. AAC has no layer. */
function detectFrames([first = 0, second = 0]: Uint8Array): FileFormat | null {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  const layer = (second >> 1) & 3;
  if (layer !== 0) return pipe('mp3');
  return (second & 0xf0) === 0xf0 ? pipe('aac') : null;
}
