import type { StreamingRecognizeRequest, StreamingRecognizeResponse } from './protocol.ts';

/**
 * Audio messages and their acknowledgements are nearly all of the traffic, and have at most one field. These codecs
 * encode and decode them without protobufjs, which would double the CPU cost per message. All other messages use
 * protobufjs.
 */

/** Field 2, length-delimited: `audio_content`. */
const AUDIO_TAG = 0x12;
const EMPTY = Buffer.alloc(0);

/** Room that encodeAudio needs before the audio, for up to 2 MB of it. */
export const AUDIO_HEADER_BYTES_MAX = 4;

/** Writes the header right before the audio at `from`, so that the audio need not be copied into a message. */
export function encodeAudio(buffer: Buffer, from: number, to: number): Buffer {
  const header = 1 + varintBytes(to - from);
  const message = buffer.subarray(from - header, to);
  message[0] = AUDIO_TAG;
  for (let at = 1, rest = to - from; at < header; at += 1, rest >>>= 7) {
    message[at] = at === header - 1 ? rest : (rest & 0x7f) | 0x80;
  }
  return message;
}

type Encode<T> = (value: T) => Buffer;
type Decode<T> = (bytes: Buffer) => T;

export function audioRequestEncoder(
  fallback: Encode<StreamingRecognizeRequest>,
): Encode<StreamingRecognizeRequest> {
  return (request) => request.encoded ?? fallback(request);
}

export function audioRequestDecoder(
  fallback: Decode<StreamingRecognizeRequest>,
): Decode<StreamingRecognizeRequest> {
  return (bytes) => {
    if (bytes[0] !== AUDIO_TAG) return fallback(bytes);
    let length = 0;
    let at = 1;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at] ?? 0;
      at += 1;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    // The message has other fields or is malformed.
    if (at + length !== bytes.byteLength) return fallback(bytes);
    return { audioContent: bytes.subarray(at) };
  };
}

export function acknowledgementEncoder(
  fallback: Encode<StreamingRecognizeResponse>,
): Encode<StreamingRecognizeResponse> {
  return (response) => (response.results === undefined ? EMPTY : fallback(response));
}

export function acknowledgementDecoder(
  fallback: Decode<StreamingRecognizeResponse>,
): Decode<StreamingRecognizeResponse> {
  return (bytes) => (bytes.byteLength === 0 ? {} : fallback(bytes));
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}
