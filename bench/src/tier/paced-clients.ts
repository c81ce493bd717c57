import { ClientProcess } from '../service/client-process.ts';
import type { PacedAnswer, PacedOrder } from './paced-main.ts';

/** Starts real-time clients of the streaming API. */
export function startPacedClients(): Promise<ClientProcess<PacedOrder, PacedAnswer>> {
  return ClientProcess.start(new URL('./paced-main.ts', import.meta.url));
}
