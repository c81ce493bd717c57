import { MODEL_IDS, MODELS, type ModelId } from './constants.ts';

/** What GET /status.json returns. It is for people and monitors, and names no node, account or number of streams. */

export type ServiceState = 'operational' | 'degraded' | 'down';

export interface ServiceComponent {
  /** `api`, `database`, or the id of a model. */
  readonly id: string;
  readonly name: string;
  readonly state: ServiceState;
  /** A fixed sentence. */
  readonly detail: string;
}

export interface ServiceStatus {
  readonly state: ServiceState;
  /** When the probes ran, in RFC 3339. */
  readonly checked_at: string;
  readonly components: readonly ServiceComponent[];
}

/** How many days /status/history.json covers. */
export const STATUS_DAYS = 90;

/** One UTC day of a component. */
export interface StatusDay {
  readonly day: string;
  /** Minutes on record: fewer than 1,440 on the first day and today. */
  readonly minutes: number;
  readonly down_minutes: number;
}

export interface ComponentHistory extends Pick<ServiceComponent, 'id' | 'name'> {
  /** Percent of the minutes on record, cut to two decimals. Null: nothing is on record yet. */
  readonly available_percent: number | null;
  readonly days: readonly StatusDay[];
}

/** An interruption, as an operator describes it. */
export interface Incident {
  readonly id: number;
  readonly text: string;
  readonly started_at: string;
  /** Null: it goes on. */
  readonly ended_at: string | null;
  readonly updated_at: string;
}

/** What GET /status/history.json returns. */
export interface StatusHistory {
  readonly written_at: string;
  readonly components: readonly ComponentHistory[];
  /** The newest of the last 90 days. */
  readonly incidents: readonly Incident[];
}

/** The parts that are probed, in the order of the page. */
export const SERVICE_COMPONENTS: readonly Pick<ServiceComponent, 'id' | 'name'>[] = [
  { id: 'api', name: 'HTTP API' },
  { id: 'database', name: 'Database' },
  ...MODEL_IDS.map(modelComponent),
];

export function modelComponent(model: ModelId): Pick<ServiceComponent, 'id' | 'name'> {
  return { id: model, name: `${MODELS[model].language} streaming` };
}
