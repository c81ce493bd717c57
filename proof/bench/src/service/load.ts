import { MeasuredProcess } from '../measured-process.ts';
import type { LoadAnswer, LoadOrder } from './load-main.ts';

export type Load = MeasuredProcess<LoadOrder, LoadAnswer>;

export function startLoad(): Promise<Load> {
  return MeasuredProcess.start(new URL('./load-main.ts', import.meta.url));
}
