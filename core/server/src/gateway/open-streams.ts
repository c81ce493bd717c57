import type { StreamErrorCode } from '@svc-asr/protocol';
import { sleep } from '../platform/sleep.ts';
import type { Connection } from './connection/connection.ts';
import { mayOpen, streamsToReclaim, streamToYield, type Slots } from './fair-share.ts';
import { audioMs } from './rules/metering.ts';

/** How long the last finals may take after the deadline of a drain. */
const LAST_FINALS_MS = 10_000;

/** The open streams of this process: what they add up to, which of them end, and when none is left. */
export class OpenStreams {
  readonly #connections = new Set<Connection>();
  /** The stream that ended last because another account was refused. */
  #yielding: Connection | null = null;
  #endedAudioMs = 0;
  #onEmpty: (() => void) | null = null;

  get count(): number {
    return this.#connections.size;
  }

  /** Those whose engine stream isn't open yet. */
  get waitingCount(): number {
    return [...this.#connections].filter((connection) => !connection.isReady).length;
  }

  /** Accepted audio of all streams, including those that have ended. */
  get audioMs(): number {
    return [...this.#connections].reduce(
      (sum, { acceptedSamples }) => sum + audioMs(acceptedSamples),
      this.#endedAudioMs,
    );
  }

  accountIds(): Set<string> {
    return new Set([...this.#connections].map((connection) => connection.accountId));
  }

  /** The accepted samples of every stream, by session. */
  acceptedAudio(): Map<string, number> {
    const streams = [...this.#connections];
    return new Map(streams.map(({ sessionId, acceptedSamples }) => [sessionId, acceptedSamples]));
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  delete(connection: Connection): void {
    this.#connections.delete(connection);
    this.#endedAudioMs += audioMs(connection.acceptedSamples);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  tick(nowMs: number): void {
    for (const connection of this.#connections) connection.tick(nowMs);
  }

  /** Ends idle streams while the node is nearly full. */
  reclaimIdle(slots: Slots): void {
    for (const idle of streamsToReclaim(this.#connections, { slots })) idle.reclaim();
  }

  mayOpen(accountId: string, slots: Slots): boolean {
    return mayOpen(accountId, { holders: this.#connections, slots });
  }

  /** The account may retry with the same credential and then finds a slot. One stream at a time gives way. */
  makeRoom(refusedAccountId: string, slots: Slots): void {
    if (this.#yielding !== null && this.#connections.has(this.#yielding)) return;
    this.#yielding = streamToYield(refusedAccountId, { holders: this.#connections, slots }) ?? null;
    this.#yielding?.reclaim();
  }

  suspend(accountIds: ReadonlySet<string>): void {
    this.end('account_inactive', ({ accountId }) => accountIds.has(accountId));
  }

  /** Ends streams because the operator asked for it. */
  endSessions(sessionIds: ReadonlySet<string>): void {
    this.end('session_ended', ({ sessionId }) => sessionIds.has(sessionId));
  }

  /** Ends streams whose clients are back and have proved that they are theirs. */
  giveUp(proofs: ReadonlyMap<string, string>): void {
    for (const connection of this.#connections) {
      if (proofs.get(connection.sessionId) === connection.proof) connection.giveUp();
    }
  }

  end(code: StreamErrorCode, which: (connection: Connection) => boolean = () => true): void {
    for (const connection of this.#connections) if (which(connection)) connection.end(code);
  }

  /** Notifies every stream, waits for them to finish, then ends the rest. */
  async drain(drainMs: number): Promise<void> {
    for (const connection of this.#connections) connection.drain(drainMs);
    await this.#empty(drainMs);
    for (const connection of this.#connections) connection.drainDeadline();
    await this.#empty(LAST_FINALS_MS);
    this.end('service_restart');
    await this.#empty(LAST_FINALS_MS);
  }

  async #empty(withinMs: number): Promise<void> {
    if (this.#connections.size === 0) return;
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    await Promise.race([emptied, sleep(withinMs)]);
  }
}
