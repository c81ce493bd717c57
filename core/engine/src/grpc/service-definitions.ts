import { join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import {
  acknowledgementDecoder,
  acknowledgementEncoder,
  audioRequestDecoder,
  audioRequestEncoder,
} from './audio-codec.ts';

const PROTO_DIR = join(import.meta.dirname, '../../proto');

let loaded: PackageDefinition | undefined;

export function packageDefinition(): PackageDefinition {
  loaded ??= loadSync(
    ['riva/proto/riva_asr.proto', 'grpc/health/v1/health.proto', 'svc/engine_slots.proto'],
    { includeDirs: [PROTO_DIR], enums: String, longs: Number },
  );
  return loaded;
}

const definitions = new Map<string, ServiceDefinition>();

export function serviceDefinition(name: string): ServiceDefinition {
  const known = definitions.get(name) ?? readDefinition(name);
  definitions.set(name, known);
  return known;
}

function readDefinition(name: string): ServiceDefinition {
  const definition = packageDefinition()[name];
  if (definition === undefined || 'format' in definition) {
    throw new RangeError(`The protocol has no service ${name}.`);
  }
  const recognize = definition['StreamingRecognize'];
  if (recognize === undefined) return definition;
  return {
    ...definition,
    StreamingRecognize: {
      ...recognize,
      requestSerialize: audioRequestEncoder(recognize.requestSerialize),
      requestDeserialize: audioRequestDecoder(recognize.requestDeserialize),
      responseSerialize: acknowledgementEncoder(recognize.responseSerialize),
      responseDeserialize: acknowledgementDecoder(recognize.responseDeserialize),
    },
  };
}
