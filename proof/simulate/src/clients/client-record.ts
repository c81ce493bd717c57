import { VirtualProcess } from '../virtual/process.ts';
import type { ClientPlan, ClientRecord } from './client.ts';

export function newRecord(plan: ClientPlan): ClientRecord {
  return {
    plan,
    process: new VirtualProcess(plan.name),
    said: [],
    taps: [],
    givenUp: new Set(),
    unanswered: 0,
    transcript: null,
    outcome: 'running',
    error: null,
    violations: [],
  };
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
