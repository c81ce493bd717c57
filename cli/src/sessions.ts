import { SvcError, type AsrSession, type CreateSessionParams } from '@svc-asr/sdk';
import type { Invocation } from './command.ts';
import { openClient } from './settings.ts';

/** A session. Where it has to be waited for, which can take a minute, whoever watches is told why. */
export async function createSession(
  { env, terminal }: Invocation,
  params: CreateSessionParams,
  signal: AbortSignal,
): Promise<AsrSession> {
  const quick = await openClient(env, { retriesMax: 0 });
  try {
    return await quick.sessions.create(params, { signal });
  } catch (error) {
    if (!(error instanceof SvcError) || !error.retryable) throw error;
    terminal.note(terminal.style('dim', `${error.message} Waiting; Ctrl-C ends ...`));
    const patient = await openClient(env);
    return patient.sessions.create(params, { signal });
  }
}
