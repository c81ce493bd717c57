import { SvcError, type AsrSession, type CreateSessionParams } from '@svc-asr/sdk';
import type { Context } from './command.ts';
import { describeWait } from './error-messages.ts';
import { openClient } from './settings.ts';

/** Creates a session. If that takes a wait, which can last a minute, the terminal says why. */
export async function createSession(
  { env, terminal }: Context,
  params: CreateSessionParams,
  signal: AbortSignal,
): Promise<AsrSession> {
  const impatient = await openClient(env, { retriesMax: 0 });
  try {
    return await impatient.sessions.create(params, { signal });
  } catch (error) {
    if (!(error instanceof SvcError) || !error.retryable) throw error;
    terminal.note(terminal.style('dim', describeWait(error)));
    const patient = await openClient(env);
    return patient.sessions.create(params, { signal });
  }
}
