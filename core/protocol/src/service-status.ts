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

/** The parts that are probed, in the order of the page. */
export const SERVICE_COMPONENTS: readonly Pick<ServiceComponent, 'id' | 'name'>[] = [
  { id: 'api', name: 'HTTP API' },
  { id: 'database', name: 'Database' },
  ...MODEL_IDS.map(modelComponent),
];

export function modelComponent(model: ModelId): Pick<ServiceComponent, 'id' | 'name'> {
  return { id: model, name: `${MODELS[model].language} streaming` };
}
