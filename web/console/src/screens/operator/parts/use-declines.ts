import { useEffect, useRef } from 'react';
import type { Decisions } from '@svc-asr/protocol/console/operator.ts';
import { post } from '../../../app/api.ts';

const UNDO_MS = 10_000;

interface Batch {
  readonly ids: Set<string>;
  readonly reason: string;
  readonly timer: number;
}

/** Sends declines after ten seconds, or when the page is left before. Closing the tab declines nobody. */
export function useDeclines(on: {
  sent: (decisions: Decisions) => void;
  failed: (ids: readonly string[], error: unknown) => void;
}): { start: (ids: readonly string[], reason: string) => void; undo: (id: string) => void } {
  const batches = useRef(new Set<Batch>());
  const listener = useRef(on);
  useEffect(() => {
    listener.current = on;
  });
  async function send(batch: Batch): Promise<void> {
    clearTimeout(batch.timer);
    batches.current.delete(batch);
    const ids = [...batch.ids];
    if (ids.length === 0) return;
    try {
      const body = { ids, reason: batch.reason };
      listener.current.sent(await post<Decisions>('/operator/waitlist/decline', body));
    } catch (error) {
      listener.current.failed(ids, error);
    }
  }
  useEffect(() => {
    const waiting = batches.current;
    return () => {
      for (const batch of waiting) void send(batch);
    };
  }, []);
  return {
    start(ids, reason) {
      const timer = window.setTimeout(() => void send(batch), UNDO_MS);
      const batch: Batch = { ids: new Set(ids), reason, timer };
      batches.current.add(batch);
    },
    undo(id) {
      for (const batch of batches.current) batch.ids.delete(id);
    },
  };
}
