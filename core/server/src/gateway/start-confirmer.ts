import type { VoiceConfirmer } from '@svc-asr/engine/core.ts';
import { SileroConfirmer } from '@svc-asr/engine/silero-confirmer.ts';
import { Counter } from 'prom-client';
import type { GatewayDeps } from './gateway.ts';

/** The second detector of speech. Its process starts with the first stream that asks for it. */
export function startConfirmer({
  log,
  metrics,
}: Pick<GatewayDeps, 'log' | 'metrics'>): VoiceConfirmer {
  const confirmer: VoiceConfirmer = new SileroConfirmer({
    onLost: (info) =>
      log.error(
        info,
        'The detector that confirms speech was lost. Streams use the level detector.',
      ),
  });
  const registers = [metrics.registry];
  const pieces = new Counter({
    name: 'svc_voice_confirmations_total',
    help: 'Frames of streams with the confirmed detector, by result: confirmed has its verdict; late and absent used the level detector alone.',
    labelNames: ['result'],
    registers,
    collect() {
      const { confirmed, late, absent } = confirmer.counts();
      pieces.reset();
      for (const [result, count] of Object.entries({ confirmed, late, absent })) {
        pieces.inc({ result }, count);
      }
    },
  });
  const restarts: Counter = new Counter({
    name: 'svc_voice_confirmer_restarts_total',
    help: 'How often the process that confirms speech was lost.',
    registers,
    collect() {
      restarts.reset();
      restarts.inc(confirmer.counts().restarts);
    },
  });
  return confirmer;
}
