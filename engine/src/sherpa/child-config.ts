import type { WeightFiles } from './recogniser.ts';

/** What a child is told on its command line: one entry for each model, in the order that opens count them. */
export interface ChildModel {
  readonly language: string;
  readonly files: WeightFiles;
  /** Weights with dynamic quantisation take one scale for a whole batch: one caller would change another's words. */
  readonly batching: boolean;
}

export function presentChildConfig(models: readonly ChildModel[]): string {
  return JSON.stringify(models);
}

/** Our own parent wrote it, so it is what it says it is. */
export function parseChildConfig(text: string): ChildModel[] {
  const models: ChildModel[] = JSON.parse(text);
  return models;
}
