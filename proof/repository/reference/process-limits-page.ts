import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '@svc-asr/protocol';
import { DEFAULT_LIMITS } from '../../../clients/integrations/compatible/src/config.ts';
import { DECODER_MEMORY_MIB } from '../../../core/runtime/src/audio-sandbox.ts';
import { CALLS_MAX } from '../../../clients/integrations/telephony/src/calls.ts';
import { RECORDING_LIMITS } from '../../../clients/integrations/telephony/src/recordings/recordings.ts';
import { UNPROVEN } from '../../../core/engine/src/node/unproven-connections.ts';
import { CONNECTION_LIMITS } from '../../../core/server/src/gateway/gateway.ts';
import { PATIENCE } from '../../../core/server/src/http/app.ts';
import { UNSENT_BYTES_MAX } from '../../../core/server/src/http/connection-limits.ts';
import { defaultConfig } from './limits-page.ts';

/** A limit of a process that listens, and the test that reaches it. */
export interface ProcessLimit {
  readonly of: 'connections' | 'memory' | 'disk' | 'slots' | 'CPU' | 'time';
  readonly what: string;
  readonly value: string;
  readonly above: string;
  readonly test: { readonly file: string; readonly title: string };
}

const SERVER = 'core/server/test';
const ENGINE = 'core/engine/test';
const COMPATIBLE = 'clients/integrations/compatible/test';
const TELEPHONY = 'clients/integrations/telephony/test';
const RECORDINGS = `${TELEPHONY}/recordings.programs.test.ts`;

function row(
  [of, what, value, above]: readonly [ProcessLimit['of'], string, string, string],
  file: string,
  title: string,
): ProcessLimit {
  return { of, what, value, above, test: { file, title } };
}

/** Every limit that keeps a stranger or one customer from taking a process for themselves. */
export function processLimits(): Readonly<Record<string, readonly ProcessLimit[]>> {
  return {
    'svc-asr': serverLimits(),
    'svc-engine': ENGINE_LIMITS,
    'svc-compatible': compatibleLimits(),
    'svc-telephony': TELEPHONY_LIMITS,
  };
}

function serverLimits(): ProcessLimit[] {
  const { limits } = defaultConfig();
  const unread = `${mib(CONNECTION_LIMITS.unreadBytes)}, ${CONNECTION_LIMITS.unreadMs / 1000} s`;
  return [
    row(
      [
        'connections',
        'HTTP, an address',
        count(limits.connectionsPerAddress),
        'the longest-stalled one is closed',
      ],
      `${SERVER}/http/slow-readers.test.ts`,
      'a connection above the limit of an address closes its longest-stalled one',
    ),
    row(
      [
        'memory',
        "answers that clients don't read, all",
        mib(UNSENT_BYTES_MAX),
        'the slowest are closed',
      ],
      'proof/bench/src/prove/attacks/slow-readers.ts',
      'memory stays flat, others are served',
    ),
    row(
      ['memory', "events that a stream doesn't read", unread, 'close 1008'],
      `${SERVER}/stream/flow.test.ts`,
      'closes a client that does not read with slow_reader',
    ),
    row(
      [
        'memory',
        "audio that the recogniser hasn't taken, a stream",
        '256 KiB',
        "the socket isn't read",
      ],
      `${SERVER}/stream/flow.test.ts`,
      'a process buffers at most 256 KiB of a stream',
    ),
    row(
      ['memory', 'body of a request', kib(LIMITS.requestBodyBytes), '413'],
      `${SERVER}/http/sessions.413.test.ts`,
      'checks the size before it parses the JSON',
    ),
    row(
      ['memory', 'head of a request', kib(PATIENCE.maxHeaderSize), '431'],
      `${SERVER}/http/refusals.test.ts`,
      'headers over 8 KiB are 431',
    ),
    row(
      [
        'slots',
        'streams of a nearly full node, an account',
        'its share',
        '503, or a slot that hardly speaks',
      ],
      `${SERVER}/stream/fair-share.test.ts`,
      'refuses an account above its share of a nearly full node',
    ),
    row(
      ['CPU', 'frames of a connection', 'one a turn of the event loop', 'others come first'],
      `${SERVER}/stream/flood.test.ts`,
      'reads one frame of a connection per turn of the event loop',
    ),
  ];
}

const ENGINE_LIMITS = [
  row(
    ['slots', 'streams', 'measured when it starts', '`RESOURCE_EXHAUSTED`'],
    `${ENGINE}/engine-node.programs.test.ts`,
    'answers RESOURCE_EXHAUSTED with retry-after-ms while no slot is free',
  ),
  row(
    ['memory', 'audio of a stalled recogniser, a stream', 'two chunks', 'the writer waits'],
    `${ENGINE}/engine-node.programs.test.ts`,
    'a stalled recogniser gets two chunks of a stream, then the writer is held back',
  ),
  row(
    ['slots', 'held by a gateway that answers nothing', '15 s', 'they are free'],
    `${ENGINE}/held-slots.test.ts`,
    'a frozen gateway frees its slots after 15 s',
  ),
  row(
    [
      'connections',
      'without a call of a gateway',
      `${UNPROVEN.sockets}, ${UNPROVEN.ms / 1000} s`,
      'the oldest of the address with most is closed',
    ],
    `${ENGINE}/unproven-connections.programs.test.ts`,
    'holds few connections without a call: the address with most of them gives way',
  ),
];

function compatibleLimits(): ProcessLimit[] {
  const limits = DEFAULT_LIMITS;
  const open = `${COMPATIBLE}/sessions.programs.test.ts`;
  const hostile = `${COMPATIBLE}/hostile-clients.programs.test.ts`;
  return [
    row(
      [
        'connections',
        'all, an account',
        ofAll(limits.connections, limits.connectionsPerAccount),
        '503, 429',
      ],
      open,
      '%s limits what is open at once',
    ),
    row(
      ['connections', 'an address', count(limits.connectionsPerAddress), '429'],
      open,
      '%s limits what is open at once',
    ),
    row(
      [
        'connections',
        'keys not confirmed yet: all, a /24 or /64',
        ofAll(limits.unprovenConnections, limits.unprovenPerNetwork),
        '503',
      ],
      hostile,
      'a Realtime connection with a made-up key is told so, and holds nothing',
    ),
    row(
      [
        'slots',
        'decoders: all, an account',
        ofAll(limits.decoders, limits.decodersPerAccount),
        '429, or waits',
      ],
      hostile,
      'one account uses only its share of the decoders',
    ),
    row(
      [
        'disk',
        'files: all, an account',
        `${gigabytes(limits.diskBytes)}, ${gigabytes(limits.diskBytesPerAccount)}`,
        '503, 429',
      ],
      hostile,
      'files on the disk are limited in all and for each account',
    ),
    row(
      [
        'disk',
        'the container of a socket',
        `${limits.liveFileBytes / 1_000_000} MB`,
        'the socket is closed',
      ],
      hostile,
      'a socket whose container must be on the disk is closed at its limit',
    ),
    row(
      ['memory', 'a decoder', `${DECODER_MEMORY_MIB} MiB`, 'ffmpeg fails, 400'],
      `${COMPATIBLE}/hostile-files.slow.test.ts`,
      'can neither write files nor use much memory',
    ),
    row(
      [
        'memory',
        'all decoders and connections',
        unitSetting('svc-compatible', 'MemoryMax'),
        'the kernel ends a decoder',
      ],
      `${COMPATIBLE}/memory.test.ts`,
      'all decoders and all connections at their limits fit into the memory',
    ),
    row(
      ['time', 'audio of a file', `${limits.audioMs / 3_600_000} hours`, '413'],
      `${COMPATIBLE}/hostile-files.slow.test.ts`,
      'audio that is too long is refused with 413',
    ),
    row(
      ['time', 'a body that arrives byte by byte', '2 kB/s after 10 s', '408'],
      hostile,
      'a body that arrives byte by byte is refused with 408',
    ),
  ];
}

const TELEPHONY_LIMITS = [
  row(
    ['connections', 'calls', count(CALLS_MAX), '503'],
    'clients/integrations/telephony/src/calls.test.ts',
    'takes a thousand connections and no more',
  ),
  row(
    ['time', 'a connection without a call', '10 s', 'close 1008'],
    `${TELEPHONY}/access.test.ts`,
    'connections that start no call are closed after 10 s',
  ),
  row(
    ['memory', "a telephone system that pings and doesn't read", '1 MiB', 'cut off'],
    `${TELEPHONY}/attacks.programs.test.ts`,
    'a telephone system that pings and does not read is cut off',
  ),
  row(
    [
      'slots',
      'recordings: at once, waiting',
      `${count(RECORDING_LIMITS.atOnce)}, ${count(RECORDING_LIMITS.waiting)}`,
      '503',
    ],
    RECORDINGS,
    'transcribes four recordings at once; the same one only once, and above 200 waiting 503',
  ),
  row(
    [
      'disk',
      'a recording',
      `${RECORDING_LIMITS.bytes / 1_000_000} MB`,
      'an event with `recording_too_large`',
    ],
    RECORDINGS,
    '%s ends as an event with the reason',
  ),
  row(
    [
      'time',
      'fetching a recording',
      `${RECORDING_LIMITS.fetchMs / 60_000} min`,
      'an event with `timeout`',
    ],
    RECORDINGS,
    'a recording that takes too long to fetch ends with timeout',
  ),
];

/** Returns docs/operations/process-limits.md. */
export function processLimitsPage(): string {
  const tables = Object.entries(processLimits()).flatMap(([name, limits]) => [
    `## ${name}`,
    '',
    '| limit of | what | value | above it | test |',
    '|---|---|---|---|---|',
    ...limits.map(
      ({ of, what, value, above, test }) =>
        `| ${of} | ${what} | ${value} | ${above} | \`${test.file}\` |`,
    ),
    '',
  ]);
  return [
    '# Limits of the processes',
    '',
    'What keeps a stranger, or one customer, from taking a process for themselves, with the values that ship and the test that reaches',
    'each. What a customer meets is in [Limits](../concepts/limits.md). `npm run docs` writes this page from the constants in the code.',
    '',
    ...tables,
  ].join('\n');
}

function unitSetting(unit: string, name: string): string {
  const path = join(import.meta.dirname, `../../../deploy/systemd/${unit}.service`);
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .find((candidate) => candidate.startsWith(`${name}=`));
  return line?.split('=')[1] ?? 'none';
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function kib(bytes: number): string {
  return `${bytes / 1024} KiB`;
}

function mib(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}

function gigabytes(bytes: number): string {
  return `${bytes / 1_000_000_000} GB`;
}

function ofAll(all: number, account: number): string {
  return `${count(all)}, ${count(account)}`;
}
