import { loadSync } from '@grpc/proto-loader';
import { assert, property, uint8Array } from 'fast-check';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AUDIO_HEADER_BYTES_MAX, encodeAudio } from '../src/grpc/audio-codec.ts';
import { RECOGNITION_SERVICE } from '../src/grpc/protocol.ts';
import { serviceDefinition } from '../src/grpc/service-definitions.ts';

/** The method as protobufjs alone would have it. */
const loaded = loadSync('riva/proto/riva_asr.proto', {
  includeDirs: [join(import.meta.dirname, '../proto')],
  enums: String,
  longs: Number,
})[RECOGNITION_SERVICE];
if (loaded === undefined || 'format' in loaded) throw new Error('no service');
const plain = loaded['StreamingRecognize'];
const ours = serviceDefinition(RECOGNITION_SERVICE)['StreamingRecognize'];
if (plain === undefined || ours === undefined) throw new Error('no method');

/** Encodes audio in the buffer that it was collected in. */
function encodedInPlace(audio: Uint8Array): Buffer {
  const buffer = Buffer.concat([Buffer.alloc(AUDIO_HEADER_BYTES_MAX), audio]);
  const encoded = encodeAudio(buffer, AUDIO_HEADER_BYTES_MAX, buffer.length);
  return ours?.requestSerialize({ encoded }) ?? encoded;
}

test('encodes audio as protobuf does, and decodes what protobuf encodes', () => {
  const sizes = [0, 1, 127, 128, 16_383, 16_384, 35_840];
  for (const size of sizes) {
    const request = { audioContent: Buffer.alloc(size, 7) };
    expect(ours.requestSerialize(request)).toEqual(plain.requestSerialize(request));
    expect(encodedInPlace(request.audioContent)).toEqual(plain.requestSerialize(request));
    expect(ours.requestDeserialize(plain.requestSerialize(request))).toMatchObject(request);
  }
  assert(
    property(uint8Array({ maxLength: 300 }), (bytes) => {
      const audioContent = Buffer.from(bytes);
      expect(plain.requestDeserialize(encodedInPlace(audioContent))).toMatchObject({
        audioContent,
      });
    }),
  );
});

test('leaves everything else to protobuf', () => {
  const config = { streamingConfig: { config: { languageCode: 'ki-KE' }, interimResults: true } };
  expect(ours.requestSerialize(config)).toEqual(plain.requestSerialize(config));
  const withId = { audioContent: Buffer.from([1, 2]), id: { value: 'x' } };
  const bytes = plain.requestSerialize(withId);
  expect(ours.requestDeserialize(bytes)).toEqual(plain.requestDeserialize(bytes));
  const response = { results: [{ alternatives: [{ transcript: 'nĩ' }], isFinal: true }] };
  expect(ours.responseSerialize(response)).toEqual(plain.responseSerialize(response));
  expect(ours.responseDeserialize(plain.responseSerialize({}))).toEqual({});
});
