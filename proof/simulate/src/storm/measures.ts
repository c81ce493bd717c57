import type { HttpAnswer } from '../virtual/http.ts';
import { FREE_SLOT_MS } from '../world/slot-watch.ts';
import { scheduler } from '../virtual/scheduler.ts';
import { parseTranscript, spokenRuns, type Run } from '../servers/speech.ts';
import type { Cell } from './cell.ts';
import type { FinishedStream, Talker, TalkerWatch } from './talker.ts';

/** A request this much before its time is no accident of the network. */
const EARLY_MS = 60;
const BURST_MS = 50;
const LONG_MS = 5_000;
const SAMPLES_PER_MS = 16;

/** What a storm did to the streams and requests of a cell. */
export class Measures implements TalkerWatch {
  readonly #cell: Cell;
  readonly #talkers = new Map<string, Talker>();
  readonly #retryAtMs = new Map<string, number>();
  readonly #slotFreeSinceMs = new Map<string, number>();
  readonly #requestsByBurst = new Map<number, number>();
  readonly #finished: FinishedStream[] = [];
  /** Waits are counted from here on, and from the end of the outage. */
  #stormAtMs = Infinity;
  #healedAtMs = Infinity;
  affected = 0;
  /** How long interrupted streams waited, and new ones. */
  readonly gaps: number[] = [];
  readonly newGaps: number[] = [];
  readonly failures = new Map<string, number>();
  readonly lockedOut = new Set<string>();
  earlyRetries = 0;
  refused = 0;
  deadUpgrades = 0;
  streams = 0;
  lostSamples = 0;
  wrongTranscripts = 0;
  doubledSamples = 0;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  get stormAtMs(): number {
    return this.#stormAtMs;
  }

  /** When the outage is over. */
  get healedAtMs(): number {
    return this.#healedAtMs;
  }

  /** The most requests within 50 ms. */
  get largestBurst(): number {
    return Math.max(0, ...this.#requestsByBurst.values());
  }

  add(talker: Talker): void {
    this.#talkers.set(talker.name, talker);
  }

  onStorm(interrupted: readonly Talker[], outageMs: number): void {
    this.#stormAtMs = scheduler.nowMs;
    this.#healedAtMs = scheduler.nowMs + outageMs;
    this.affected = interrupted.length;
    for (const talker of interrupted) {
      talker.isReady = false;
      talker.waitingSinceMs = scheduler.nowMs;
    }
  }

  onUpgrade(_talker: Talker, host: string): void {
    this.#cell.series.count('upgrades');
    if (!this.#cell.nodes.has(host)) this.deadUpgrades += 1;
  }

  onReady({ wasReady }: Talker, waitedFromMs: number): void {
    const { nowMs } = scheduler;
    if (nowMs < this.#stormAtMs || (!wasReady && waitedFromMs < this.#stormAtMs)) return;
    const waitedMs = Math.max(0, nowMs - Math.max(waitedFromMs, this.#healedAtMs));
    (wasReady ? this.gaps : this.newGaps).push(waitedMs);
  }

  onRequest(name: string): void {
    const { nowMs } = scheduler;
    this.#cell.series.count('requests');
    if (nowMs > this.#stormAtMs) {
      const burst = Math.floor(nowMs / BURST_MS);
      this.#requestsByBurst.set(burst, (this.#requestsByBurst.get(burst) ?? 0) + 1);
    }
    if (nowMs < (this.#retryAtMs.get(name) ?? 0) - EARLY_MS) this.earlyRetries += 1;
    this.#retryAtMs.delete(name);
  }

  onAnswer(name: string, { status, headers, body }: HttpAnswer): void {
    const code = status === 201 ? null : errorCode(body);
    this.#cell.series.count(`answer ${code ?? status}`);
    const talker = this.#talkers.get(name);
    if (talker !== undefined) {
      const isBlocked = code === 'concurrency_limit_exceeded';
      talker.blockedSinceMs = isBlocked ? (talker.blockedSinceMs ?? scheduler.nowMs) : null;
    }
    if (code === null) return;
    if (scheduler.nowMs > this.#stormAtMs) this.refused += 1;
    const retryAfter = headers['retry-after'];
    if (retryAfter === undefined) return;
    this.#retryAtMs.set(name, scheduler.nowMs + Number(retryAfter) * 1000);
  }

  onFinished(talker: Talker, stream: FinishedStream): void {
    this.streams += 1;
    if (stream.error !== null) {
      const what = `${talker.wasReady ? 'running' : 'new'}: ${stream.error}`;
      this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
      return;
    }
    this.#finished.push(stream);
    const said = spokenRuns(stream.speaker, 0, stream.samples);
    const got = parseTranscript(stream.text);
    if (JSON.stringify(got) === JSON.stringify(said)) return;
    this.wrongTranscripts += 1;
    this.lostSamples += Math.max(0, samplesOf(said) - samplesOf(got));
  }

  /** Compares the ledger with the audio of all streams, when their sessions are settled. */
  countCharges(): void {
    const { sessions } = this.#cell.ledger.state;
    for (const { sessionIds, samples } of this.#finished) {
      const charged = sessionIds.reduce((sum, id) => {
        const session = sessions.get(id);
        return (
          sum +
          (session?.status === 'completed' ? session.samples - (session.replayedSamples ?? 0) : 0)
        );
      }, 0);
      this.doubledSamples += Math.max(0, charged - samples);
    }
  }

  get lostMs(): number {
    return this.lostSamples / SAMPLES_PER_MS;
  }

  get doubledMs(): number {
    return this.doubledSamples / SAMPLES_PER_MS;
  }

  get waiting(): number {
    return this.#waitingFor(0);
  }

  /** In a large cell some new stream is always on its way. */
  get waitingLong(): number {
    return this.#waitingFor(LONG_MS);
  }

  #waitingFor(leastMs: number): number {
    const sinceMs = scheduler.nowMs - leastMs;
    const isWaiting = ({ waitingSinceMs }: Talker): boolean =>
      waitingSinceMs !== null && waitingSinceMs <= sinceMs;
    return [...this.#talkers.values()].filter(isWaiting).length;
  }

  /** Called every second. */
  sample(): void {
    const { series } = this.#cell;
    series.peak('waiting', this.waiting);
    series.peak('unevenness', this.#cell.unevenness());
    this.#watchSlots();
  }

  #watchSlots(): void {
    const { accounts, liveOf } = this.#cell.ledger.state;
    const { nowMs } = scheduler;
    for (const { name, accountId, blockedSinceMs } of this.#talkers.values()) {
      const limit = accounts.get(accountId)?.concurrencyLimit ?? 0;
      if ((liveOf.get(accountId)?.size ?? 0) >= limit) {
        this.#slotFreeSinceMs.delete(accountId);
        continue;
      }
      const freeSinceMs = this.#slotFreeSinceMs.get(accountId) ?? nowMs;
      this.#slotFreeSinceMs.set(accountId, freeSinceMs);
      if (blockedSinceMs === null) continue;
      // During an outage nobody gets a slot.
      const outageEndMs = nowMs < this.#stormAtMs ? 0 : this.#healedAtMs;
      const waitsSinceMs = Math.max(freeSinceMs, blockedSinceMs, outageEndMs);
      if (nowMs - waitsSinceMs > FREE_SLOT_MS) this.lockedOut.add(name);
    }
  }
}

function samplesOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { samples }) => sum + samples, 0);
}

function errorCode(body: unknown): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by presentError
  return (body as { error: { code: string } }).error.code;
}
