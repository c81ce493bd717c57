import { ClientProcess } from './client-process.ts';
import type { LoadAnswer, LoadOrder } from './load-main.ts';

export type Load = ClientProcess<LoadOrder, LoadAnswer>;

export function startLoad(): Promise<Load> {
  return ClientProcess.start(new URL('./load-main.ts', import.meta.url));
}
