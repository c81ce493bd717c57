import type { Language } from '@svc-asr/protocol/languages.ts';
import type { Call } from './call.ts';

/** Why a call or a recording is refused. Metrics count it by code. */
export type RefusalCode =
  | 'not_found'
  | 'wrong_signature'
  | 'not_allowed'
  | 'host_not_allowed'
  | 'unsupported_audio'
  | 'unsupported_language'
  | 'busy'
  | 'draining'
  | 'no_start';

export interface CallStart {
  readonly call: string;
  /** As the telephone system names it. Null: the bridge's own. */
  readonly language: string | null;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A connection's share in a call of several connections, one for each leg. */
export interface JoinedCall {
  readonly call: Call;
  /** Of this connection's leg. */
  readonly language: Language;
  /** The call ends when its last connection has left. */
  leave(): void;
}

/** The part of the bridge that a protocol uses. */
export interface CallContext {
  /** Null if the language is not supported: the call is refused, never transcribed in another language. */
  startCall(start: CallStart): Call | null;
  /** Joins the call with this id, or starts it. Null as for `startCall`. */
  joinCall(start: CallStart): JoinedCall | null;
  /** Reports a refused call to the operator. */
  refuse(code: RefusalCode, message: string): void;
  /** Query parameters of the address, such as `rate` and `channels`. */
  readonly query: URLSearchParams;
}
