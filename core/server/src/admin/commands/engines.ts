import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import { addressProblem } from '@svc-asr/runtime/addresses.ts';
import { EnvironmentReader } from '@svc-asr/runtime/environment.ts';
import { readTlsFiles } from '@svc-asr/runtime/tls-files.ts';
import type { Command } from 'commander';
import type { AdminEnvironment } from '../context.ts';
import { examples } from '../examples.ts';
import { createOutput } from '../output.ts';
import { EXIT, Problem } from '../problem.ts';

/** Long enough for two heartbeats of a distant node. */
const ANSWER_WITHIN_MS = 3_000;

/** Queries the engine nodes directly, because no database lists them. */
export function addEnginesCommand(program: Command, environment: AdminEnvironment): void {
  const engines = program
    .command('engines')
    .description('engine nodes, their weights, slots and lag')
    .action(async () => {
      const { json } = program.opts<{ json?: true }>();
      const rows = await askNodes(environment.env);
      createOutput(environment, json === true).show(rows);
    });
  examples(engines, ['engines', 'engines --json']);
  engines.addHelpText(
    'after',
    `
Settings: ENGINE_ADDRESSES and ENGINE_TLS_*_FILE, as in the service.`,
  );
}

async function askNodes(env: AdminEnvironment['env']) {
  const addresses = env['ENGINE_ADDRESSES'] ?? '';
  if (addresses === '') {
    throw new Problem(
      'ENGINE_ADDRESSES is not set: recognition runs inside the nodes.',
      EXIT.usage,
    );
  }
  // Loading the engine takes longer than any other command runs.
  const { startRivaEngine } = await import('@svc-asr/engine');
  const read = new EnvironmentReader(env);
  const { problems } = read;
  const tls = readTlsFiles(read);
  const problem = addressProblem(addresses);
  if (problem !== null) problems.push(`ENGINE_ADDRESSES ${problem}`);
  if (problems.length > 0) throw new Problem(problems.join('. '), EXIT.usage);
  const engine = await startRivaEngine({ addresses, tls, readyWithinMs: ANSWER_WITHIN_MS });
  try {
    const deadlineMs = performance.now() + ANSWER_WITHIN_MS;
    const isWaiting = (): boolean => engine.nodes().some(({ state }) => state === 'connecting');
    while (isWaiting() && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return engine.nodes().map(({ address, state, builds, slots, used, lagMs }) => ({
      address,
      state: state === 'connecting' ? 'unreachable' : state,
      builds: [...new Set(MODEL_IDS.map((id) => builds[id] ?? ''))].join(' '),
      slots: state === 'serving' ? slots : 0,
      used: state === 'serving' ? used : 0,
      lag_ms: lagMs,
    }));
  } finally {
    await engine.close();
  }
}
