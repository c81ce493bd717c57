import type { Plan } from '../world/plan.ts';
import type { ClientPlan, ClientStep } from '../clients/client.ts';
import type { RunResult } from './run-plan.ts';

/** Runs that one shrink may take. */
const RUNS_MAX = 150;

/**
 * Cuts a failing plan down while it still breaks the same guarantee: fewer faults, clients, processes and steps, then
 * shorter ones. Returns the smallest run found.
 */
export async function shrink(
  failed: RunResult,
  run: (plan: Plan) => Promise<RunResult>,
): Promise<RunResult> {
  const kinds = new Set(failed.violations.map(kindOf));
  let smallest = failed;
  let runs = 0;
  for (let isSmaller = true; isSmaller && runs < RUNS_MAX;) {
    isSmaller = false;
    for (const plan of smallerPlans(smallest.plan)) {
      if (runs >= RUNS_MAX) break;
      runs += 1;
      const result = await run(plan);
      if (!result.violations.some((violation) => kinds.has(kindOf(violation)))) continue;
      smallest = result;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** The guarantee that a violation breaks, without names and numbers. */
function kindOf(violation: string): string {
  return violation
    .replace(/"[^"]*"/g, '""')
    .replace(/\b[0-9a-f]{8}\b/g, '#')
    .replace(/\d+/g, '#');
}

/** Plans with one thing less, the largest cuts first. */
function* smallerPlans(plan: Plan): Generator<Plan> {
  const { faults, clients, nodes, apis } = plan;
  for (const at of faults.keys()) yield { ...plan, faults: without(faults, at) };
  if (clients.length > 1) {
    for (const at of clients.keys()) yield { ...plan, clients: without(clients, at) };
  }
  if (nodes.length > 1) {
    for (const at of nodes.keys()) yield { ...plan, nodes: without(nodes, at) };
  }
  if (apis.length > 1) {
    for (const at of apis.keys()) yield { ...plan, apis: without(apis, at) };
  }
  for (const [at, client] of clients.entries()) {
    for (const smaller of smallerClients(client)) {
      yield { ...plan, clients: clients.with(at, smaller) };
    }
  }
  for (const [at, node] of nodes.entries()) {
    if (node.rate !== 1) yield { ...plan, nodes: nodes.with(at, { ...node, rate: 1 }) };
  }
  if (plan.delayMs[1] > 2) yield { ...plan, delayMs: [0.2, 2] };
}

function* smallerClients(client: ClientPlan): Generator<ClientPlan> {
  const { steps } = client;
  for (const at of steps.keys()) yield { ...client, steps: without(steps, at) };
  if (client.endpointing) yield { ...client, endpointing: false };
  for (const [at, step] of steps.entries()) {
    const shorter = shortened(step);
    if (shorter !== null) yield { ...client, steps: steps.with(at, shorter) };
  }
}

function shortened(step: ClientStep): ClientStep | null {
  if ('ms' in step) return step.ms < 200 ? null : { ...step, ms: Math.ceil(step.ms / 200) * 100 };
  if ('times' in step) {
    return step.times < 2 ? null : { ...step, times: Math.ceil(step.times / 2) };
  }
  return null;
}

function without<T>(items: readonly T[], at: number): T[] {
  return items.toSpliced(at, 1);
}
