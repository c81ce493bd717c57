import { SvcError, type AsrSession } from '@svc-asr/sdk';
import { expect, test } from 'vitest';
import { createInTurn, Turns } from '../src/concurrency.ts';

const SESSION: AsrSession = {
  id: '6f0c2c0a-0000-4000-8000-000000000000',
  object: 'asr.session',
  status: 'reserved',
  model: 'svc-asr-kikuyu-v1',
  websocket_url: 'wss://example.org/v1/asr/stream',
  websocket_protocols: ['svc.realtime.v1', 'svc.auth.x'],
  expires_at: '2026-01-01T00:00:00Z',
  audio: {
    encoding: 'pcm_s16le',
    sample_rate_hz: 16_000,
    channels: 1,
    max_audio_seconds: 60,
    context_size: [56, 13],
  },
  credits: { unit: 'audio_second', reserved: 60, remaining: 0 },
};

function refusal(): SvcError {
  return new SvcError({
    code: 'concurrency_limit_exceeded',
    message: 'Busy.',
    retryable: true,
    status: 429,
  });
}

test.each([1, 2, 3])(
  'an account for %i sessions at once: all files are done, none is refused',
  async (limit) => {
    const turns = new Turns(6);
    let open = 0;
    let most = 0;
    let refused = 0;
    async function file(): Promise<void> {
      await turns.take();
      await createInTurn(turns, async () => {
        if (open >= limit) {
          refused += 1;
          throw refusal();
        }
        open += 1;
        most = Math.max(most, open);
        return SESSION;
      });
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      turns.giveBack();
    }
    await Promise.all(Array.from({ length: 20 }, file));
    expect(most).toBe(limit);
    // Once learnt, nobody asks in vain.
    expect(refused).toBeLessThanOrEqual(6);
  },
);

test('when the place is held by somebody else, the service is asked patiently', async () => {
  const turns = new Turns(4);
  await turns.take();
  const asked: string[] = [];
  const session = await createInTurn(turns, async (how) => {
    asked.push(how);
    if (how === 'once') throw refusal();
    return SESSION;
  });
  expect(session).toBe(SESSION);
  expect(asked).toEqual(['once', 'patiently']);
});
