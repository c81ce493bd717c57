import { expect, test } from 'vitest';
import { SvcError } from '../src/errors.ts';
import { openStream } from '../src/stream.ts';

test('a getSession that throws instead of rejecting ends the stream with its error, without a crash', async () => {
  const stream = openStream({
    getSession: () => {
      throw new SvcError({ code: 'missing_api_key', message: 'Pass apiKey.', retryable: false });
    },
  });
  expect(await stream.closed).toMatchObject({ reason: 'missing_api_key', retryable: false });
});
