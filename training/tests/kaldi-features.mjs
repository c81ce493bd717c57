// node kaldi-features.mjs ENGINE_ROOM < SAMPLES: the engine's filter banks of float32 samples that arrive in pieces, as float32.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const PIECE = 1_777;
const source = join(resolve(process.argv[2]), 'src/transducer/kaldi-features.ts');
const { KaldiFeatures } = await import(pathToFileURL(source).href);
const bytes = readFileSync(0);
const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const features = new KaldiFeatures();
for (let at = 0; at < samples.length; at += PIECE) features.accept(samples.subarray(at, at + PIECE));
process.stdout.write(new Uint8Array(features.read(0, features.count).buffer));
