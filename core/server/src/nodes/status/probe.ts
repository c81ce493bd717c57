import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import {
  modelComponent,
  type ServiceComponent,
  type ServiceState,
  type ServiceStatus,
} from '@svc-asr/protocol/service-status.ts';
import { withinDeadline } from '../../platform/deadline.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { listLiveNodes, type LiveNode } from '../nodes.ts';

const API = { id: 'api', name: 'HTTP API' };

export type ApiState = 'ready' | 'not_ready' | 'draining';

/** Whether the API, the database and a recogniser for each model are available. */
export async function probe(db: Queryable, api: ApiState): Promise<ServiceStatus> {
  // The nodes' leases are in the database, so one query checks both.
  const nodes = await withinDeadline(listLiveNodes(db)).catch(() => null);
  const components = [
    apiComponent(api),
    databaseState(nodes !== null),
    ...MODEL_IDS.map((model) => modelState(model, nodes)),
  ];
  return { state: overall(components), checked_at: new Date().toISOString(), components };
}

function apiComponent(state: ApiState): ServiceComponent {
  switch (state) {
    case 'draining':
      return { ...API, state: 'degraded', detail: 'This server is restarting.' };
    case 'ready':
      return { ...API, state: 'operational', detail: 'Accepts requests.' };
    case 'not_ready':
      return { ...API, state: 'down', detail: 'This server is not ready.' };
  }
}

function databaseState(isUp: boolean): ServiceComponent {
  const database = { id: 'database', name: 'Database' };
  return isUp
    ? { ...database, state: 'operational', detail: 'Answers queries.' }
    : {
        ...database,
        state: 'down',
        detail: 'Does not answer. Open streams continue, and new sessions are refused.',
      };
}

function modelState(model: ModelId, nodes: readonly LiveNode[] | null): ServiceComponent {
  const component = modelComponent(model);
  if (nodes === null) {
    return { ...component, state: 'down', detail: 'Unknown while the database does not answer.' };
  }
  const serving = nodes.filter((node) => node.models.includes(model) && !node.draining);
  if (serving.length === 0) {
    return { ...component, state: 'down', detail: 'No streaming node is running.' };
  }
  return serving.some((node) => node.active < node.capacity)
    ? { ...component, state: 'operational', detail: 'A recogniser is free.' }
    : { ...component, state: 'degraded', detail: 'Every recogniser is in use. Retry shortly.' };
}

/** One model without a node is a partial outage. Without the API, the database or any model, nothing works. */
function overall(components: readonly ServiceComponent[]): ServiceState {
  const [api, database, ...models] = components;
  if ([api, database].some((one) => one !== undefined && isDown(one)) || models.every(isDown)) {
    return 'down';
  }
  return components.every(({ state }) => state === 'operational') ? 'operational' : 'degraded';
}

function isDown({ state }: ServiceComponent): boolean {
  return state === 'down';
}
