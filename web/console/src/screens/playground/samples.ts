import type { ModelId } from '@svc-asr/protocol/constants.ts';

/** Recordings that the service offers, with what is said in them. The build copies them from core/models/fixtures. */
export interface Sample {
  readonly name: string;
  readonly model: ModelId;
  readonly text: string;
}

export const SAMPLES: readonly Sample[] = [
  { name: 'kikuyu-1', model: 'svc-asr-kikuyu-v1', text: 'Wĩ mwega? Nĩndakena nĩ gũkuona.' },
  {
    name: 'kikuyu-2',
    model: 'svc-asr-kikuyu-v1',
    text: 'Maitũ nĩarathiĩ ndũnyũ kũgũra waru na mboga.',
  },
  { name: 'dholuo-1', model: 'svc-asr-dholuo-v1', text: 'Erokamano ahinya kuom kony ma imiya.' },
  { name: 'dholuo-2', model: 'svc-asr-dholuo-v1', text: "Mama dhi e chiro mondo ong'iew rech." },
];

export function sampleUrl({ name }: Sample): string {
  return `/examples/${name}.wav`;
}
