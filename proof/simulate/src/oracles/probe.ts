import { createAccount, setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { ClientRecord } from '../clients/client.ts';
import { startSdkClient } from '../clients/sdk-client.ts';
import type { World } from '../world/world.ts';
import { checkTranscript } from './transcript.ts';

/** A process that can't start tries again every second, and the list of nodes is a second old at most. */
const UP_MS = 30_000;
/** After the last fault and the last start, a lease is renewed and a refused database accepted within this time. */
const SETTLED_MS = 5_000;
const STREAMS_MS = 30_000;
/** More than one chunk, so that the recogniser makes its socket wait. */
const SPEECH_MS = 1_500;
const COST_MS = 2_000;
const ACCOUNT = '00000000-0000-4000-8000-00000000beef';
/** No other client of a world has this voice. */
const FIRST_SPEAKER = 40;

/** Once faults have stopped, the service works again: as many streams as there are nodes are served and charged. */
export async function probe(world: World, faultsOverMs: number): Promise<string[]> {
  const { plan, nodes, apis } = world;
  const isUp = (): boolean => nodes.size === plan.nodes.length && apis.size === plan.apis.length;
  if ((await scheduler.run(isUp, scheduler.nowMs + UP_MS)) !== 'done') {
    return ['recovery: a process did not come up again'];
  }
  const settledMs = Math.max(faultsOverMs, world.startedAtMs) + SETTLED_MS;
  await scheduler.run(() => scheduler.nowMs >= settledMs, settledMs);
  await openAccount(world);
  const clients = plan.nodes.map((_, at) => startProbe(world, at));
  const areOver = (): boolean => clients.every(({ outcome }) => outcome !== 'running');
  await scheduler.run(areOver, scheduler.nowMs + STREAMS_MS);
  const problems = clients.flatMap(problemsOf);
  const balance = await createLedger(world.direct).balance(ACCOUNT);
  if (problems.length === 0 && balance?.consumedMs !== clients.length * COST_MS) {
    problems.push(`${clients.length} short streams cost ${balance?.consumedMs ?? 0} ms`);
  }
  for (const { process } of clients) process.kill();
  return problems.map((problem) => `recovery: ${problem}`);
}

async function openAccount({ direct, plan }: World): Promise<void> {
  await createAccount(direct, { id: ACCOUNT, name: 'probe' });
  await setConcurrency(direct, { id: ACCOUNT, limit: plan.nodes.length });
  const credit = { accountId: ACCOUNT, ms: 600_000, id: crypto.randomUUID() };
  await createLedger(direct).grant({ ...credit, reason: 'probe', actor: 'simulator' });
}

function startProbe({ trace }: World, at: number): ClientRecord {
  const plan = {
    kind: 'sdk',
    name: `probe-${at + 1}`,
    speaker: FIRST_SPEAKER + at,
    accountId: ACCOUNT,
    startMs: 0,
    maxAudioSeconds: 10,
    endpointing: false,
    steps: [{ do: 'say', ms: SPEECH_MS }],
  } as const;
  return startSdkClient(plan, trace);
}

function problemsOf(client: ClientRecord): string[] {
  const { outcome, error, violations, plan } = client;
  if (outcome !== 'finished') return [`${plan.name} is ${outcome} ${error ?? ''}`.trim()];
  return [...violations, ...checkTranscript(client)].map((found) => `${plan.name}: ${found}`);
}
