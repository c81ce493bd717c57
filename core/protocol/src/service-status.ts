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
