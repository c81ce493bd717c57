export {
  SvcClient,
  type ClientOptions,
  type CreateSessionOptions,
  type CreateSessionParams,
  type RequestOptions,
} from './client.ts';
export type { RateLimit } from './rate-limit.ts';
export { errorResponse, type ErrorResponse } from './error-response.ts';
export { SvcError, type SvcErrorDetails } from './errors.ts';
export type {
  AsrSession,
  CreditBalance,
  Model,
  ModelId,
  SessionStatus,
  UsageSession,
} from '@svc-asr/protocol';
