import { mkdir, writeFile } from 'node:fs/promises';
import { installFetch } from '../virtual/fetch.ts';
import { realNowMs } from '../virtual/globals.ts';
import { currentProcess } from '../virtual/process.ts';
import { scheduler } from '../virtual/scheduler.ts';
import { Cell } from './cell.ts';
import { figuresOf, type StormFigures } from './figures.ts';
import { Measures } from './measures.ts';
import { drawStorm } from './picture.ts';
import { timesOf, type CellSettings } from './settings.ts';
import type { StormName } from './storm-names.ts';
import { STORMS } from './storms.ts';
import { Talker } from './talker.ts';

/** A run lasts at least this long, and until nobody waits for long. */
const RUN_MS_MIN = 90_000;
const RUN_MS_MAX = 240_000;
/** Streams that end together need a while, and the sweeper too. */
const END_MS = 150_000;
const SETTLED_MS = 10_000;
const PROGRESS_SECONDS = 10;
const CLOCKS = { drift: 0.0001, offsetMs: 500 };
const RATE = { perMinute: 6_000, burst: 3_000 };
/** Half of the talkers have an account of their own, and 20 others share one with 25 slots. */
const SHARED = { talkers: 20, slots: 25 };
const HOT_SLOTS = 10_000;

/** Runs one storm, prints what happened and draws it into `folder`. */
export async function runStorm(
  name: StormName,
  settings: CellSettings,
  folder: string,
): Promise<StormFigures> {
  const storm = STORMS[name];
  const cell = new Cell(
    { ...settings, use: storm.use ?? settings.use },
    { clocks: storm.clocks ?? CLOCKS, rate: storm.rate ?? RATE },
  );
  const measures = new Measures(cell);
  const startedAtMs = realNowMs();
  const cpuBefore = process.cpuUsage();
  connectTalkers(cell, measures);
  const talkers = await createTalkers(cell, measures, storm.isHot ?? false);
  const { rampMs, stormAtMs } = timesOf(settings);
  cell.start();
  const ramp = cell.randomOf('ramp');
  for (const talker of talkers) talker.start(1_500 + ramp.between(0, rampMs));
  scheduler.later(stormAtMs, () => {
    measures.onStorm(storm.begin(cell, talkers), storm.outageMs ?? 0);
  });
  let peakBytes = 0;
  const tookSeconds = (): number => Math.round((realNowMs() - startedAtMs) / 1000);
  const sample = (): void => {
    measures.sample();
    const atSecond = Math.round(scheduler.nowMs / 1000);
    if (atSecond % PROGRESS_SECONDS === 0) {
      console.error(
        `${atSecond} s simulated in ${tookSeconds()} s, ${measures.waiting} streams wait`,
      );
    }
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
    scheduler.later(1_000, sample);
  };
  scheduler.later(1_000, sample);
  const isCalm = (): boolean => scheduler.nowMs >= RUN_MS_MIN && measures.waitingLong === 0;
  await scheduler.run(isCalm, RUN_MS_MAX);
  const stillWaiting = measures.waitingLong;
  const ranMs = scheduler.nowMs;
  for (const talker of talkers) talker.isStopping = true;
  await scheduler.run(() => talkers.every(({ isDone }) => isDone), ranMs + END_MS);
  await scheduler.run(() => false, scheduler.nowMs + SETTLED_MS);
  measures.countCharges();
  const cpu = process.cpuUsage(cpuBefore);
  const figures = figuresOf({
    name,
    cell,
    measures,
    ranMs,
    stillWaiting,
    unfinished: talkers.filter(({ isDone }) => !isDone).length,
    cpuMs: (cpu.user + cpu.system) / 1000,
    peakBytes,
  });
  await mkdir(folder, { recursive: true });
  const path = `${folder}/storm-${name}.svg`;
  await writeFile(path, drawStorm({ title: storm.what, cell, measures, ranMs }));
  console.log(`${path}, ${tookSeconds()} s, hash ${(scheduler.hash >>> 0).toString(16)}`);
  return figures;
}

function connectTalkers(cell: Cell, measures: Measures): void {
  const balancer = cell.randomOf('balancer');
  const { network } = cell;
  installFetch({
    network,
    watch: {
      onAsked() {},
      onSent() {},
      onAnswered: (name, _request, answer) => measures.onAnswer(name, answer),
      onTold() {},
    },
    choose() {
      measures.onRequest(currentProcess()?.name ?? '');
      return cell.apis.size === 0 ? null : balancer.pick([...cell.apis.values()]);
    },
    fate() {
      const client = currentProcess();
      return client !== undefined && network.cutOff.has(client) ? 'request_unheard' : 'delivered';
    },
  });
}

async function createTalkers(
  cell: Cell,
  measures: Measures,
  isHot: boolean,
): Promise<readonly Talker[]> {
  const hot = isHot ? await cell.createAccount(HOT_SLOTS) : null;
  const talkers: Talker[] = [];
  let shared: { readonly id: string; talkers: number } | null = null;
  for (let at = 0; at < cell.settings.streams; at += 1) {
    let accountId = hot;
    if (hot === null || at % 2 === 1) {
      if (at % 4 === 1 || at % 4 === 2) accountId = await cell.createAccount(1);
      else {
        if (shared === null || shared.talkers === SHARED.talkers) {
          shared = { id: await cell.createAccount(SHARED.slots), talkers: 0 };
        }
        shared.talkers += 1;
        accountId = shared.id;
      }
    }
    const random = cell.randomOf(`talker ${at}`);
    const talker = new Talker({ at, accountId: accountId ?? '', random, watch: measures });
    measures.add(talker);
    talkers.push(talker);
  }
  return talkers;
}
