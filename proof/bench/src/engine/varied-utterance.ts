import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelId } from '@svc-asr/protocol';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';

const FIXTURES = join(import.meta.dirname, '../../../../core/models/fixtures');

export interface VariedUtterance {
  readonly model: ModelId;
  readonly text: string;
  readonly pcm: Uint8Array;
  readonly samples: Float32Array;
}

/**
 * Returns the n-th of many distinct utterances: one to three fixture sentences, each with its own speed, level, pause and
 * noise. The same number gives the same utterance on every machine.
 */
export function variedUtterance(number: number): VariedUtterance {
  const random = seeded(number + 1);
  const language = number % 2 === 0 ? 'kikuyu' : 'dholuo';
  const ours = SPEECH.filter(({ name }) => name.startsWith(language));
  const parts: Float32Array[] = [];
  const texts: string[] = [];
  const sentences = 1 + Math.floor(3 * random());
  for (let at = 0; at < sentences; at += 1) {
    const one = ours[Math.floor(ours.length * random())];
    if (one === undefined) continue;
    parts.push(new Float32Array(Math.floor(8_000 * random())));
    parts.push(played(one.pcm, { speed: 0.93 + 0.14 * random(), level: 0.4 + 0.5 * random() }));
    texts.push(readFileSync(join(FIXTURES, `${one.name}.txt`), 'utf8'));
  }
  const noise = 10 ** (-4.5 + 1.5 * random());
  const samples = Float32Array.from(
    parts.flatMap((part) => [...part]),
    (sample) => sample + noise * (2 * random() - 1),
  );
  const pcm = new Uint8Array(2 * samples.length);
  const view = new DataView(pcm.buffer);
  for (const [at, sample] of samples.entries()) {
    const whole = Math.round(sample * 32_767);
    view.setInt16(2 * at, whole, true);
    samples[at] = whole / 32_768;
  }
  const model = `svc-asr-${language}-v1` as const;
  return { model, text: spelt(texts.join(' ')), pcm, samples };
}

/** Linear interpolation: enough for speech whose speed changes by a few percent. */
function played(pcm: Uint8Array, how: { speed: number; level: number }): Float32Array {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const count = pcm.byteLength / 2;
  return Float32Array.from({ length: Math.floor((count - 1) / how.speed) }, (_, at) => {
    const from = at * how.speed;
    const first = Math.floor(from);
    const here = view.getInt16(2 * first, true);
    const next = view.getInt16(2 * Math.min(first + 1, count - 1), true);
    return (how.level * (here + (next - here) * (from - first))) / 32_768;
  });
}

function spelt(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^a-zĩũ' ]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function seeded(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
