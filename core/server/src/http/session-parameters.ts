import { API_ERRORS, SPECIFIC_MESSAGES } from '@svc-asr/protocol';
import type { FastifySchemaValidationError } from 'fastify';
import { ApiError } from '../platform/api-error.ts';

const { invalid_parameter: INVALID } = SPECIFIC_MESSAGES;
const INVALID_AT = new Map<string, string>([
  ['', INVALID.body],
  ['/model', INVALID.model],
  ['/max_audio_seconds', INVALID.max_audio_seconds],
]);

/** Returns the 400 for a body that doesn't match CreateSessionRequest. It names the parameter and its valid values. */
export function describeInvalidParameter(
  errors: readonly Pick<FastifySchemaValidationError, 'keyword' | 'instancePath'>[],
): ApiError {
  const { keyword, instancePath } = errors[0] ?? { keyword: '', instancePath: '' };
  if (keyword === 'required') return new ApiError('missing_parameter');
  if (keyword === 'additionalProperties') return new ApiError('unknown_parameter');
  const message = INVALID_AT.get(instancePath) ?? API_ERRORS.invalid_parameter.message;
  return new ApiError('invalid_parameter', { message });
}
