import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import {
  modelComponent,
  type ServiceComponent,
  type ServiceState,
  type ServiceStatus,
} from '@svc-asr/protocol/service-status.ts';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { listLiveNodes, type LiveNode } from '../nodes/nodes.ts';
import { withinDeadline } from '../platform/deadline.ts';

/** The route is public and not rate limited, so its probes run at most this often, however many people ask. */
export const STATUS_FRESH_MS = 5_000;

/** GET /status.json: whether the API, the database and a recogniser for each model are available. */
export function statusRoute(app: FastifyInstance, deps: Deps): void {
  const report = cached(() => probe(deps), deps);
  app.get('/status.json', async (_request, reply) => {
    void reply.header('cache-control', `public, max-age=${STATUS_FRESH_MS / 1_000}`);
    return report();
  });
}

function cached<T>(check: () => Promise<T>, { clock }: Deps): () => Promise<T> {
  let latest: { readonly result: Promise<T>; readonly atMs: number } | null = null;
  return () => {
    const now = clock.monotonicMs();
    if (latest === null || now - latest.atMs >= STATUS_FRESH_MS) {
      latest = { result: check(), atMs: now };
    }
    return latest.result;
  };
}

async function probe(deps: Deps): Promise<ServiceStatus> {
  // The nodes' leases are in the database, so one query checks both.
  const nodes = await withinDeadline(listLiveNodes(deps.db)).catch(() => null);
  const components = [
    apiState(deps),
    databaseState(nodes !== null),
    ...MODEL_IDS.map((model) => modelState(model, nodes)),
  ];
  return { state: overall(components), checked_at: new Date().toISOString(), components };
}

function apiState({ lifecycle }: Deps): ServiceComponent {
  const api = { id: 'api', name: 'HTTP API' };
  if (lifecycle.draining)
    return { ...api, state: 'degraded', detail: 'This server is restarting.' };
  const isReady = lifecycle.checks.every((holds) => holds());
  return isReady
    ? { ...api, state: 'operational', detail: 'Accepts requests.' }
    : { ...api, state: 'down', detail: 'This server is not ready.' };
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
