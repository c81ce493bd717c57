import { useEffect, useRef } from 'react';
import type { Overview, OverviewLive } from '@svc-asr/protocol/console/console.ts';
import { get } from '../../app/api.ts';
import { useLoad, type Load } from '../../app/use-load.ts';
import { follow, isLive } from './follow-live.ts';

const LIVE_REFRESH_MS = 2_000;
const QUIET_REFRESH_MS = 30_000;

/** Loads the overview and keeps it up to date. While a session is live, only what changes is asked for. */
export function useOverview(): {
  load: Load<Overview>;
  reload: () => Promise<void>;
  refresh: () => Promise<void>;
} {
  const { load, reload, refresh, set } = useLoad<Overview>('/overview');
  const isFollowed = load.state === 'ready' && load.data.sessions.some(isLive);
  const update = useRef(refresh);
  update.current = async () => {
    if (load.state !== 'ready' || !isFollowed) return refresh();
    const live = await get<OverviewLive>('/overview/live').catch(() => null);
    if (live === null) return;
    const next = follow(load.data, live);
    if (next === null) await refresh();
    else set(next);
  };
  const updating = useRef(false);
  useEffect(() => {
    const updateOnce = async (): Promise<void> => {
      // One at a time: requests wait while the person signs in again.
      if (document.hidden || updating.current) return;
      updating.current = true;
      await update.current();
      updating.current = false;
    };
    const everyMs = isFollowed ? LIVE_REFRESH_MS : QUIET_REFRESH_MS;
    const timer = setInterval(() => void updateOnce(), everyMs);
    return () => clearInterval(timer);
  }, [isFollowed]);
  return { load, reload, refresh };
}
