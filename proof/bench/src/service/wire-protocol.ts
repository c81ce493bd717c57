import { CHUNK_SAMPLES, type AsrSession, type ServerEvent } from '@svc-asr/protocol';
import { WebSocket } from 'ws';

/** A parsed message from any recognition server. */
type ServerMessage =
  | { readonly kind: 'ready' }
  /** `samples`: how much audio the server needs before it can send this message. */
  | { readonly kind: 'delta'; readonly samples: number }
  | { readonly kind: 'final'; readonly text: string }
  | { readonly kind: 'other' };

/** How a client talks to a recognition server. The same load clients can then measure our server and its peers. */
export interface WireProtocol {
  connect(url: string, session: AsrSession | null): WebSocket;
  encode(pcm: Uint8Array): Uint8Array;
  /** Sent once, after `ready`. */
  readonly configure?: string;
  readonly endOfSpeech: string;
  /** `count`: how many deltas came before this message. */
  parse(message: string, count: number): ServerMessage;
}

const OPTIONS = { perMessageDeflate: false, skipUTF8Validation: true };

const ours: WireProtocol = {
  connect: (url, session) => new WebSocket(url, [...(session?.websocket_protocols ?? [])], OPTIONS),
  encode: (pcm) => pcm,
  endOfSpeech: '{"type":"flush"}',
  parse(message) {
    const event: ServerEvent = JSON.parse(message);
    if (event.type === 'ready') return { kind: 'ready' };
    if (event.type === 'delta') return { kind: 'delta', samples: event.audio_ms * 16 };
    return event.type === 'final' ? { kind: 'final', text: event.text } : { kind: 'other' };
  },
};

/** With endpointing, pauses produce finals too. The stream ends at the final of its flush. */
const oursEndpointing: WireProtocol = {
  ...ours,
  configure: '{"type":"config","endpointing":{"detector":"level"}}',
  parse(message, count) {
    const event: ServerEvent = JSON.parse(message);
    if (event.type === 'final' && event.reason === 'endpoint') return { kind: 'other' };
    return ours.parse(message, count);
  },
};

const oursConfirmed: WireProtocol = {
  ...oursEndpointing,
  configure: '{"type":"config","endpointing":{"detector":"confirmed"}}',
};

/** A bare stream needs this much audio for its first decode. It then decodes and sends a message after every chunk. */
const FIRST_DECODE_SAMPLES = 20_800;

/** sherpa-onnx's own server: takes float samples, sends the text so far as JSON, and answers "Done" with "Done!". */
const sherpa: WireProtocol = {
  connect: (url) => new WebSocket(url, OPTIONS),
  encode(pcm) {
    const samples = new Int16Array(Uint8Array.from(pcm).buffer);
    return new Uint8Array(Float32Array.from(samples, (sample) => sample / 32_768).buffer);
  },
  endOfSpeech: 'Done',
  parse(message, count) {
    // Only the cost is compared, so the text is left out.
    if (message === 'Done!') return { kind: 'final', text: '' };
    return { kind: 'delta', samples: FIRST_DECODE_SAMPLES + count * CHUNK_SAMPLES };
  },
};

export const WIRE_PROTOCOLS = { ours, oursEndpointing, oursConfirmed, sherpa } as const;
export const OUR_PROTOCOLS = ['ours', 'oursEndpointing', 'oursConfirmed'] as const;
export type OurProtocol = (typeof OUR_PROTOCOLS)[number];
