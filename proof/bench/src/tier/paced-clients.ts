import { MeasuredProcess } from '../measured-process.ts';
import type { PacedAnswer, PacedOrder } from './paced-main.ts';

/** Starts real-time clients of the streaming API. */
export function startPacedClients(): Promise<MeasuredProcess<PacedOrder, PacedAnswer>> {
  return MeasuredProcess.start(new URL('./paced-main.ts', import.meta.url));
}
