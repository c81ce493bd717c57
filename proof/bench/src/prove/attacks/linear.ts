import { httpTarget, startTargets, type Target, type Targets } from '../../bridge-fuzz/targets.ts';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { cpuMsOf } from '../../engine/processor.ts';
import { inputsOf, type Input } from '../../linear/inputs.ts';
import { numbers } from '../../service/concurrency.ts';

/** What expressions and loops stumble over, repeated. */
const FILLERS = ['/', ' ', 'a', '.', ',', ';=', '-', '%2F', '&a=', '"'];
/** The lengths that are compared, as parts of the longest that the limits let through. */
const SIZES = {
  full: { fillers: FILLERS, parts: [32, 16, 8, 4, 2, 1] },
  short: { fillers: ['/', ' ', 'a', ';='], parts: [4, 1] },
};
/** Texts of the longest size for one measurement. Shorter ones are sent more often, so that it has as many bytes. */
const TEXTS = 3;
/** Linear work costs the same per byte, and less where a request costs more than its text. */
const GROWTH_MAX = 2;
/** Another process can disturb a measurement, so a growth counts if it is seen every time. */
const MEASUREMENTS = 4;
/** Below this, a growth is the compiler or the garbage collector at work. */
const MS_PER_TEXT_MIN = 0.4;

export const about =
  'every text that a stranger can send, doubled up to its limit: CPU time per byte stays the same';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const targets = await startTargets();
  try {
    const size = SIZES[short ? 'short' : 'full'];
    const planted = await grownInputs(await startPlanted(targets), size, log);
    let inputs = 0;
    const grown: string[] = [];
    for (const target of targets.all.filter(({ speaks }) => speaks === 'http')) {
      const began = performance.now();
      const found = await grownInputs(target, size, log);
      inputs += found.inputs;
      grown.push(...found.grown);
      log(
        `${target.name}: ${found.inputs} inputs in ${((performance.now() - began) / 1000).toFixed(1)} s`,
      );
    }
    const plantedFound = planted.grown.some((name) => name.includes('target /'));
    if (!plantedFound) log('The planted expression was not found.');
    return {
      passed: grown.length === 0 && plantedFound,
      figures: { inputs, grown: grown.length, planted_found: Number(plantedFound) },
    };
  } finally {
    await targets.stop();
  }
}

type Size = (typeof SIZES)['full'];

async function startPlanted(targets: Targets): Promise<Target> {
  const process = await targets.start({
    name: 'planted expression',
    program: 'proof/bench/src/linear/planted-main.ts',
    ready: /"port":(\d+)/,
  });
  return httpTarget(process.name, process, Number(process.greeting[1]));
}

async function grownInputs(
  target: Target,
  { fillers, parts }: Size,
  log: (line: string) => void,
): Promise<{ inputs: number; grown: string[] }> {
  const grown: string[] = [];
  const inputs = inputsOf(target);
  for (const input of inputs) {
    for (const filler of fillers) {
      const growth = await leastGrowth(target, input, filler, parts);
      if (growth <= GROWTH_MAX) continue;
      grown.push(input.name);
      log(
        `${target.name}: ${input.name}, ${JSON.stringify(filler)}: ${growth.toFixed(1)} times the CPU time per byte`,
      );
    }
  }
  return { inputs: inputs.length, grown };
}

/** The growth of CPU time per byte, from the cheapest size to a longer one. The least of several measurements. */
async function leastGrowth(
  target: Target,
  input: Input,
  filler: string,
  parts: readonly number[],
): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < MEASUREMENTS && least > GROWTH_MAX; tries += 1) {
    let [cheapest, growth] = [Infinity, 0];
    for (const part of parts) {
      const bytes = Math.floor(input.bytesMax / part);
      const text = `x${filler.repeat(Math.floor((bytes - 2) / filler.length))}!`;
      const msPerText = await cost(target, input, text, TEXTS * part);
      if (msPerText > MS_PER_TEXT_MIN) growth = Math.max(growth, msPerText / bytes / cheapest);
      cheapest = Math.min(cheapest, msPerText / bytes);
    }
    least = Math.min(least, growth);
  }
  return least;
}

async function cost(target: Target, input: Input, text: string, times: number): Promise<number> {
  const before = cpuMsOf([target.process.pid]);
  for (const _ of numbers(times)) await input.send(text);
  return (cpuMsOf([target.process.pid]) - before) / times;
}
