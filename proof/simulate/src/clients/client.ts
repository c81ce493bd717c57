import type { Transcript } from '@svc-asr/sdk/stream';
import type { VirtualProcess } from '../virtual/process.ts';
import type { SessionTap } from './session-tap.ts';

export type ClientStep =
  /** `say-fast` writes faster than real time. `skip` moves the transcript's time. */
  | { readonly do: 'say' | 'say-fast' | 'silence' | 'pause' | 'skip'; readonly ms: number }
  | { readonly do: 'flush' | 'reset' }
  /** Only of SDK clients: names the words to listen for from now on. */
  | { readonly do: 'keyterms'; readonly keyterms: readonly string[] }
  /** Only of raw clients. */
  | { readonly do: 'bytes'; readonly bytes: number; readonly times: number }
  /** The same, all at once. */
  | { readonly do: 'burst'; readonly bytes: number; readonly times: number }
  | { readonly do: 'text'; readonly text: string; readonly times: number }
  /** Opens another connection with the same credential. */
  | { readonly do: 'open-again' }
  /** The same, before the first connection has opened. Only as the first step. */
  | { readonly do: 'open-at-once' }
  | { readonly do: 'close' | 'drop' };

export interface ClientPlan {
  /** An application that uses the SDK, or one that uses the socket directly and breaks rules. */
  readonly kind: 'sdk' | 'raw';
  readonly name: string;
  /** Names the voice, so that nobody gets another's words. */
  readonly speaker: number;
  readonly accountId: string;
  readonly startMs: number;
  readonly maxAudioSeconds: number;
  readonly endpointing: boolean;
  /** Whether a second detector confirms speech. */
  readonly isConfirmed?: boolean;
  readonly keyterms?: readonly string[];
  /** How much audio an SDK client writes at once. Default 100. */
  readonly chunkMs?: number;
  /** Whether its `getSession` passes on the idempotency key that the stream gives it. Default true. */
  readonly passesKey?: boolean;
  /** Whether it ends with `close()`, without waiting for its last finals. Default false. */
  readonly closesEarly?: boolean;
  readonly steps: readonly ClientStep[];
}

/** What a client wrote, in order. */
export type Said =
  | { readonly what: 'speech'; readonly from: number; readonly to: number }
  | { readonly what: 'flush' | 'reset' };

/** Everything that the oracles need to know about a client. */
export interface ClientRecord {
  readonly plan: ClientPlan;
  readonly process: VirtualProcess;
  readonly said: Said[];
  readonly taps: SessionTap[];
  /** The ends of credentials that its requests named as lost. The service ends these sessions. */
  readonly givenUp: Set<string>;
  /** Promises of `flush()` and `reset()` that have not settled. */
  unanswered: number;
  /** What the SDK delivered. */
  transcript: Transcript | null;
  outcome: 'running' | 'finished' | 'closed' | 'failed' | 'vanished';
  error: string | null;
  /** Broken promises that this client has noticed. */
  readonly violations: string[];
}
