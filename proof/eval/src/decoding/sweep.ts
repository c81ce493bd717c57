import { readModelSet } from '@svc-asr/models/model-set.ts';
import { sweepLeadIn } from '../folder.ts';
import { sweepDecoding, type SweepOptions } from './sweep-decoding.ts';

/** Tunes installed weights on recordings. Returns the exit status. */
export async function sweep(options: SweepOptions): Promise<number> {
  const set = await readModelSet(options.modelsDir, options.model);
  switch (set.kind) {
    case 'offline_ctc':
      return sweepDecoding(options, set);
    case 'transducer':
      return sweepLeadIn(options);
    case 'zipformer_transducer':
      throw new Error(
        'sweep tunes CTC models and NeMo transducers. Try values of a Zipformer with compare.',
      );
  }
}
