import {
  SERVICE_COMPONENTS,
  STATUS_DAYS,
  type StatusHistory,
} from '@svc-asr/protocol/service-status.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import { listIncidents, presentIncident } from './incidents.ts';

const HISTORY = statement(
  `select component, day::text, minutes, down_minutes from status_history()`,
  { component: t.text(), day: t.text(), minutes: t.number(), down_minutes: t.number() },
);

/** What the service recorded about itself, and what operators wrote about it. */
export async function readHistory(db: Queryable): Promise<StatusHistory> {
  const rows = await queryRows(db, HISTORY);
  const incidents = await listIncidents(db, { days: STATUS_DAYS });
  const components = SERVICE_COMPONENTS.map(({ id, name }) => {
    const days = rows
      .filter(({ component }) => component === id)
      .map(({ component: _id, ...day }) => day);
    return { id, name, available_percent: availability(days), days };
  });
  return {
    written_at: new Date().toISOString(),
    components,
    incidents: incidents.map(presentIncident),
  };
}

/** Cut, not rounded: an interruption never shows as 100 %. */
function availability(days: readonly { minutes: number; down_minutes: number }[]): number | null {
  const minutes = days.reduce((sum, day) => sum + day.minutes, 0);
  const down = days.reduce((sum, day) => sum + day.down_minutes, 0);
  return minutes === 0 ? null : Math.floor(((minutes - down) * 10_000) / minutes) / 100;
}
