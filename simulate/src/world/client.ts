import type { Transcript } from '@svc-asr/sdk/stream';
import type { VirtualProcess } from '../virtual/process.ts';
import type { SessionTap } from './session-tap.ts';

export type ClientStep =
  /** `say-fast` writes faster than real time. `skip` moves the transcript's time. */
  | { readonly do: 'say' | 'say-fast' | 'silence' | 'pause' | 'skip'; readonly ms: number }
  | { readonly do: 'flush' | 'reset' }
  /** Only of raw clients. */
  | { readonly do: 'bytes'; readonly bytes: number; readonly times: number }
  /** The same, all at once. */
  | { readonly do: 'burst'; readonly bytes: number; readonly times: number }
  | { readonly do: 'text'; readonly text: string; readonly times: number }
  /** Opens another connection with the same credential. */
  | { readonly do: 'open-again' }
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
  /** Promises of `flush()` and `reset()` that have not settled. */
  unanswered: number;
  /** What the SDK delivered. */
  transcript: Transcript | null;
  outcome: 'running' | 'finished' | 'failed' | 'vanished';
  error: string | null;
  /** Broken promises that this client has noticed. */
  readonly violations: string[];
}
