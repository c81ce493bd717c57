import { Metadata } from '@grpc/grpc-js';
import type { EngineHealth } from '../engine.ts';
import { METADATA } from './protocol.ts';

export interface LoadReport {
  /** Active slots. */
  readonly active: number;
  readonly capacity: number;
  readonly lagMs: number;
  /** Those of the asking holder. Null when the server does not say. */
  readonly held: number | null;
}

/** No node has a million slots. */
const LOAD = /^(\d{1,6})\/(\d{1,6})\/(\d{1,9})$/;
const HELD = /^\d{1,6}$/;

export function presentLoad({ active, capacity, lagMs }: EngineHealth): Metadata {
  const metadata = new Metadata();
  metadata.set(METADATA.load, `${active}/${capacity}/${Math.round(lagMs)}`);
  return metadata;
}

/** Null when the server does not report its load. */
export function parseLoad(metadata: Metadata): LoadReport | null {
  const [text] = metadata.get(METADATA.load);
  const [, active, capacity, lagMs] = LOAD.exec(String(text)) ?? [];
  if (active === undefined) return null;
  const [held] = metadata.get(METADATA.held);
  return {
    active: Number(active),
    capacity: Number(capacity),
    lagMs: Number(lagMs),
    held: HELD.test(String(held)) ? Number(held) : null,
  };
}
