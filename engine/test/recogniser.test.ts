import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { loadManifests } from '../src/index.ts';
import { Recogniser } from '../src/sherpa/recogniser.ts';
import { BareRecogniser, toUtterance } from './bare.ts';
import { MODELS_DIR, speech } from './speech.ts';

const manifests = await loadManifests(MODELS_DIR);
const manifest = manifests.get('svc-asr-kikuyu-v1');
if (manifest === undefined) throw new Error('no manifest');
const recogniser = new Recogniser({ files: manifest.files, batching: true });
const bare = new BareRecogniser(manifests);
const { model, pcm } = speech('kikuyu-2');
/** Where bare sherpa's tail begins to make one decode more, and a chunk's own ends. */
const EDGES = [0, 15_040, CHUNK_SAMPLES].flatMap((edge) => [edge - 1, edge, edge + 1]);

test.each([...EDGES, 1, 4_000, 9_999].filter((samples) => samples > 0))(
  'audio that ends %i samples into a chunk is recognised as bare sherpa does with all of its tail',
  (samples) => {
    const said = pcm.subarray(0, (CHUNK_SAMPLES + samples) * 2);
    const utterance = recogniser.begin(manifest.language);
    utterance.accept(toUtterance({ model, pcm: said }).samples);
    utterance.finish();
    while (utterance.ready) recogniser.decode([utterance]);
    expect(utterance.transcript().text).toBe(bare.recognise({ model, pcm: said }));
    expect(utterance.transcript().text).not.toBe('');
  },
);
