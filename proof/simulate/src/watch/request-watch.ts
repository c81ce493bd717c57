import type { HttpAnswer, HttpRequest } from '../virtual/http.ts';
import { scheduler } from '../virtual/scheduler.ts';

/** A reservation lasts for a minute. For the rest of it a credential would be too short-lived to be asked for again. */
const STANDS_MS = 49_000;

interface Asked {
  readonly atMs: number;
  isReserved: boolean;
  isTold: boolean;
}

/** Checks that no application holds two reservations because the answer to its first request was lost or came too late. */
export class RequestWatch {
  readonly #report: (violation: string) => void;
  /** By application and idempotency key. */
  readonly #asked = new Map<string, Map<string, Asked>>();

  constructor(report: (violation: string) => void) {
    this.#report = report;
  }

  onSent(client: string, request: HttpRequest): void {
    const key = keyOf(request);
    const keys = this.#asked.get(client) ?? new Map<string, Asked>();
    this.#asked.set(client, keys);
    if (key === null || keys.has(key)) return;
    keys.set(key, { atMs: scheduler.nowMs, isReserved: false, isTold: false });
  }

  /** The API has answered. */
  onAnswered(client: string, request: HttpRequest, { status }: HttpAnswer): void {
    const own = this.#find(client, request);
    if (own === undefined || (status !== 201 && status !== 429)) return;
    if (status === 201) own.isReserved = true;
    for (const other of this.#asked.get(client)?.values() ?? []) {
      const stands = other.isReserved && !other.isTold && other.atMs > scheduler.nowMs - STANDS_MS;
      if (other === own || !stands) continue;
      this.#report(`${client} asks for another session, and was never told of its first`);
    }
  }

  /** The answer has arrived. */
  onTold(client: string, request: HttpRequest): void {
    const own = this.#find(client, request);
    if (own !== undefined) own.isTold = true;
  }

  #find(client: string, request: HttpRequest): Asked | undefined {
    return this.#asked.get(client)?.get(keyOf(request) ?? '');
  }
}

function keyOf({ headers }: HttpRequest): string | null {
  return headers.get('idempotency-key');
}
