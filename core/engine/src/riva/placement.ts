import type { ModelId } from '@svc-asr/protocol/constants.ts';
import { lessLoadedOfTwo } from '@svc-asr/runtime/less-loaded.ts';

const BY_NAME = new Intl.Collator('en', { numeric: true });

export interface Candidate {
  readonly isServing: boolean;
  readonly used: number;
  readonly capacity: number;
  build(model: ModelId): string | null;
}

/** A stream leaves its node for one with this much less load, as a share of its slots. */
const WORTH_MOVING = 0.1;

/**
 * Picks a node for one stream: the less loaded of two random nodes that have the newest weights and a free slot.
 * Builds are compared by name, numbers as numbers, so that dated names sort by date. With `build`, only nodes with
 * exactly these weights count.
 */
export function choosePeer<T extends Candidate>(
  peers: Iterable<T>,
  wanted: { readonly model: ModelId; readonly build: string | null },
): T | null {
  const free = [...peers].filter(
    (peer) => peer.isServing && peer.used < peer.capacity && fits(peer, wanted),
  );
  const newest = free.reduce((most, peer) => {
    const build = peer.build(wanted.model) ?? '';
    return compareBuilds(build, most) > 0 ? build : most;
  }, '');
  const best = free.filter((peer) => (peer.build(wanted.model) ?? '') === newest);
  return lessLoadedOfTwo(best, load);
}

/** Returns whether a stream should leave its node before its next utterance: for newer weights, or for much less load. */
export function isWorthMoving<T extends Candidate>(
  model: ModelId,
  { from, to }: { readonly from: T; readonly to: T },
): boolean {
  const newer = compareBuilds(to.build(model) ?? '', from.build(model) ?? '');
  if (newer !== 0) return newer > 0;
  // As it would be after the move.
  return (to.used + 1) / to.capacity + WORTH_MOVING < load(from);
}

export function fits(
  peer: Candidate,
  { model, build }: { model: ModelId; build: string | null },
): boolean {
  return build === null || (peer.build(model) ?? build) === build;
}

function load({ used, capacity }: Candidate): number {
  return used / capacity;
}

export function compareBuilds(a: string, b: string): number {
  return a === b ? 0 : BY_NAME.compare(a, b);
}
