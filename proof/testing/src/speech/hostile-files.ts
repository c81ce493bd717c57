import { execFileSync } from 'node:child_process';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { encode, FORMATS } from './audio-files.ts';

/** A file that an attacker might upload. */
export interface HostileFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** What an attacker would like to reach through a file. */
export interface Targets {
  /** An HTTP address that counts requests. */
  readonly url: string;
  /** A file of this machine. */
  readonly path: string;
}

const CUTS = [0.02, 0.3, 0.9];
const NOISE_BYTES = 64 * 1024;

/** About a hundred files: truncated, with lying headers, playlists that name other resources, and bombs of more than `overMs`. */
export async function hostileFiles(targets: Targets, overMs: number): Promise<HostileFile[]> {
  const sound = await Promise.all(
    Object.keys(FORMATS).map(async (ending) => ({ name: ending, bytes: await encode(ending) })),
  );
  return [
    ...sound.flatMap(truncated),
    ...sound.map(garbled),
    ...lyingHeaders(find(sound, 'wav'), find(sound, 'mp4'), find(sound, 'webm')),
    ...playlists(targets),
    ...references(find(sound, 'mov'), targets),
    ...bombs(overMs),
  ];
}

function find(files: readonly HostileFile[], name: string): Buffer {
  return files.find((file) => file.name === name)?.bytes ?? Buffer.alloc(0);
}

function truncated({ name, bytes }: HostileFile): HostileFile[] {
  return CUTS.map((share) => ({
    name: `${name} cut at ${share * 100} %`,
    bytes: bytes.subarray(0, Math.round(bytes.byteLength * share)),
  }));
}

/** The first bytes of a real file, then noise. The noise is the same in every run. */
function garbled({ name, bytes }: HostileFile): HostileFile {
  return { name: `${name} with noise`, bytes: Buffer.concat([bytes.subarray(0, 200), noise()]) };
}

function noise(): Buffer {
  let state = 1;
  return Buffer.from(
    Uint8Array.from({ length: NOISE_BYTES }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

function lyingHeaders(wav: Buffer, mp4: Buffer, webm: Buffer): HostileFile[] {
  return [
    wavWith(wav, '4 GiB of data', (file) => file.writeUInt32LE(0xff_ff_ff_ff, sizeAt(file))),
    wavWith(wav, 'no data', (file) => file.writeUInt32LE(0, sizeAt(file))),
    wavWith(wav, '65,535 channels', (file) => file.writeUInt16LE(65_535, 22)),
    wavWith(wav, 'no channels', (file) => file.writeUInt16LE(0, 22)),
    wavWith(wav, '1 Hz', (file) => file.writeUInt32LE(1, 24)),
    wavWith(wav, '4 GHz', (file) => file.writeUInt32LE(0xff_ff_ff_ff, 24)),
    wavWith(wav, 'an unknown codec', (file) => file.writeUInt16LE(0x77_77, 20)),
    wavWith(wav, 'no bits', (file) => file.writeUInt16LE(0, 34)),
    boxes('an endless box', mp4, 0),
    boxes('a box of 4 GiB', mp4, 0xff_ff_ff_ff),
    { name: 'mp4 of nothing but boxes', bytes: Buffer.concat(Array.from({ length: 20_000 }, box)) },
    { name: 'webm with an endless element', bytes: Buffer.concat([webm.subarray(0, 40), ENDLESS]) },
    {
      name: 'mp3 with 256 MiB of tags',
      bytes: Buffer.from('ID3\u0004\u0000\u0000\u007F\u007F\u007F\u007F', 'latin1'),
    },
    { name: 'flac without streaminfo', bytes: Buffer.concat([Buffer.from('fLaC'), noise()]) },
    { name: 'ogg pages without codec', bytes: Buffer.concat(Array.from({ length: 500 }, oggPage)) },
    { name: 'wav that is a picture', bytes: Buffer.from('\u0089PNG\r\n\u001A\nRIFF', 'latin1') },
    { name: 'empty', bytes: Buffer.alloc(0) },
    { name: 'one byte', bytes: Buffer.from([0x52]) },
  ];
}

const ENDLESS = Buffer.from([
  0x18,
  0x53,
  0x80,
  0x67,
  0x01,
  ...Array.from({ length: 7 }, () => 0xff),
]);

function wavWith(wav: Buffer, lie: string, write: (file: Buffer) => void): HostileFile {
  const bytes = Buffer.from(wav);
  write(bytes);
  return { name: `wav with ${lie}`, bytes };
}

/** Where the length of the samples is. ffmpeg writes a comment before it. */
function sizeAt(wav: Buffer): number {
  return wav.indexOf('data') + 4;
}

function boxes(lie: string, mp4: Buffer, size: number): HostileFile {
  const bytes = Buffer.from(mp4);
  bytes.writeUInt32BE(size, bytes.indexOf('mdat') - 4);
  return { name: `mp4 with ${lie}`, bytes };
}

function box(): Buffer {
  return Buffer.from('\u0000\u0000\u0000\u0008free', 'latin1');
}

function oggPage(_: unknown, at: number): Buffer {
  const page = Buffer.alloc(27);
  page.write('OggS', 'latin1');
  page.writeUInt32LE(at, 18);
  return page;
}

/** Files that make ffmpeg open other files and addresses, if it is allowed to. */
function playlists({ url, path }: Targets): HostileFile[] {
  const texts: Readonly<Record<string, string>> = {
    'HLS address': `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${url}/hls\n#EXT-X-ENDLIST\n`,
    'HLS file': `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://${path}\n#EXT-X-ENDLIST\n`,
    'HLS concat': `#EXTM3U\n#EXTINF:10,\nconcat:${path}|${url}/concat\n#EXT-X-ENDLIST\n`,
    'HLS key': `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${url}/key"\n#EXTINF:10,\n${url}/k\n`,
    ffconcat: `ffconcat version 1.0\nfile '${path}'\nfile '${url}/ffconcat'\n`,
    M3U: `${url}/m3u\n${path}\n`,
    PLS: `[playlist]\nFile1=${url}/pls\nNumberOfEntries=1\n`,
    DASH: `<?xml version="1.0"?><MPD><BaseURL>${url}/dash</BaseURL></MPD>`,
    SDP: `v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n`,
    ASX: `<asx version="3.0"><entry><ref href="${url}/asx"/></entry></asx>`,
    SMIL: `<smil><body><audio src="${url}/smil"/></body></smil>`,
    SVG: `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}/svg"/></svg>`,
    'RTSP redirect': `RTSPtext\nrtsp://127.0.0.1/stream\n`,
    subtitles: `1\n00:00:00,000 --> 99:59:59,000\n${url}/subtitles\n`,
    'an address': url,
    'a path': path,
    JSON: JSON.stringify({ url: `${url}/json` }),
  };
  const plain = Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
  // A playlist behind the signature of a file that is read.
  const hidden = [
    'ID3\u0003\u0000\u0000\u0000\u0000\u0000\u0000',
    'OggS',
    'fLaC',
    '\u0000\u0000\u0000\u0010ftypmp42',
  ];
  return [
    ...plain,
    ...hidden.map((signature, at) => ({
      name: `playlist behind signature ${at + 1}`,
      bytes: Buffer.from(signature + (texts['HLS address'] ?? ''), 'latin1'),
    })),
  ];
}

/** The boxes around the data reference of a QuickTime file. */
const REFERENCE_PATH = ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref'];

/**
 * A QuickTime file whose samples are elsewhere: its data reference is an alias with the path of another file. ffmpeg
 * follows it with `-enable_drefs 1 -use_absolute_path 1`.
 */
function references(mov: Buffer, { url, path }: Targets): HostileFile[] {
  return [path, url].map((target) => {
    const at = mov.indexOf('dref') + 12;
    const end = at + mov.readUInt32BE(at);
    const entry = aliasTo(target);
    const bytes = Buffer.concat([mov.subarray(0, at), entry, mov.subarray(end)]);
    for (const name of REFERENCE_PATH) {
      const size = bytes.indexOf(name) - 4;
      bytes.writeUInt32BE(bytes.readUInt32BE(size) + entry.byteLength - (end - at), size);
    }
    return { name: `mov with its samples in ${target}`, bytes };
  });
}

function aliasTo(path: string): Buffer {
  const even = Buffer.from(path.length % 2 === 0 ? path : `${path}\0`);
  const name = Buffer.alloc(63);
  const fileName = path.split('/').at(-1)?.slice(0, 60) ?? '';
  name.write(fileName);
  const record = Buffer.concat([
    Buffer.alloc(10),
    Buffer.alloc(1 + 27 + 12),
    Buffer.from([fileName.length]),
    name,
    Buffer.alloc(16),
    words(1, 1),
    Buffer.alloc(16),
    // 2: an absolute path. 0xffff: the end.
    words(2, even.byteLength),
    even,
    words(0xff_ff, 0),
  ]);
  const head = Buffer.alloc(12);
  head.writeUInt32BE(head.byteLength + record.byteLength, 0);
  head.write('alis', 4);
  return Buffer.concat([head, record]);
}

function words(first: number, second: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(first, 0);
  bytes.writeUInt16BE(second, 2);
  return bytes;
}

/** Small files that are large when they are decoded. */
function bombs(overMs: number): HostileFile[] {
  const zeros = Buffer.alloc(50_000_000);
  const behind = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1');
  return [
    { name: 'gzip of 50 MB', bytes: gzipSync(zeros) },
    { name: 'deflate of 50 MB', bytes: deflateRawSync(zeros) },
    { name: 'gzip behind a WAV signature', bytes: Buffer.concat([behind, gzipSync(zeros)]) },
    silence('Opus', ['-c:a', 'libopus', '-b:a', '6k', '-f', 'ogg'], overMs),
    silence('MP3', ['-c:a', 'libmp3lame', '-b:a', '8k', '-f', 'mp3'], overMs),
    silence('AAC', ['-c:a', 'aac', '-b:a', '8k', '-f', 'adts'], overMs),
  ];
}

const SILENCE_S = 20;

/** More silence than is allowed: these formats can be repeated. */
function silence(name: string, codec: readonly string[], overMs: number): HostileFile {
  const source = ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', String(SILENCE_S)];
  const piece = execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...source, ...codec, 'pipe:1']);
  const times = Math.ceil((overMs * 1.1) / 1000 / SILENCE_S);
  return {
    name: `too much silence in ${name}`,
    bytes: Buffer.concat(Array.from({ length: times }, () => piece)),
  };
}
