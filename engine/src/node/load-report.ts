import { Metadata } from '@grpc/grpc-js';
import type { EngineHealth } from '../engine.ts';
import { METADATA } from '../grpc/protocol.ts';

export interface LoadReport {
  readonly active: number;
  readonly capacity: number;
  readonly lagMs: number;
}

export function presentLoad({ active, capacity, lagMs }: EngineHealth): Metadata {
  const metadata = new Metadata();
  metadata.set(METADATA.load, `${active}/${capacity}/${Math.round(lagMs)}`);
  return metadata;
}

/** Null when the server does not report its load. */
export function parseLoad(metadata: Metadata): LoadReport | null {
  const [text] = metadata.get(METADATA.load);
  const [active, capacity, lagMs] = String(text).split('/').map(Number);
  if (!isCount(active) || !isCount(capacity) || !isCount(lagMs)) return null;
  return { active, capacity, lagMs };
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0;
}
