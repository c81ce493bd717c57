import { EXIT, type Context, type ExitCode } from '../command.ts';
import { audioFrom, Feeder, type AudioSink } from './feeder.ts';
import { earlierMs, restMs, type Job } from './jobs.ts';
import { decodeFile } from '../media.ts';
import { openClient } from '../settings.ts';
import { clock, jsonText, printable } from '../terminal.ts';

/** Returns the credit left, or null if the service does not answer. */
export async function creditLeftMs({ env }: Context): Promise<number | null> {
  const client = await openClient(env, { retriesMax: 0 });
  return client.usage.get().then(
    ({ available_ms }) => available_ms,
    () => null,
  );
}

/** Says before anything is sent that the credit won't last for all files. */
export async function announceShortCredit(context: Context, jobs: readonly Job[]): Promise<void> {
  const neededMs = jobs.reduce((sum, job) => sum + (restMs(job) ?? 0), 0);
  const leftMs = neededMs === 0 ? null : await creditLeftMs(context);
  if (leftMs === null || neededMs <= leftMs) return;
  const long = jobs.filter((job) => (restMs(job) ?? 0) > leftMs);
  const { terminal } = context;
  const names = long.map(
    ({ path, durationMs }) => `${printable(path)} (${clock(durationMs ?? 0)})`,
  );
  const alone = names.length === 0 ? '' : ` Longer than the credit: ${names.join(', ')}.`;
  const message =
    `${clock(neededMs)} of audio to transcribe, but only ${clock(leftMs)} of credit left. ` +
    `The transcripts stop when it is used up.${alone}`;
  terminal.note(terminal.style('yellow', message));
}

/** Prints what the files would cost. Sends nothing. */
export async function printEstimate(
  context: Context,
  jobs: readonly Job[],
  options: { skipSilence: boolean; json: boolean },
): Promise<ExitCode> {
  const { terminal, interrupted } = context;
  let totalMs = 0;
  for (const job of jobs) {
    const ms = await msToSend(job, options.skipSilence, interrupted);
    if (interrupted.aborted) return EXIT.interrupted;
    totalMs += ms;
    const cost_ms = wholeSeconds(ms);
    const fields = { audio_ms: job.durationMs, resumes_at_ms: earlierMs(job), cost_ms };
    const from = earlierMs(job) === 0 ? '' : `, from ${clock(earlierMs(job))}`;
    if (options.json) terminal.print(jsonText({ file: job.path, status: 'estimated', ...fields }));
    else terminal.print(`${printable(job.path)}  about ${cost_ms / 1000} s${from}`);
  }
  const leftMs = await creditLeftMs(context);
  const credit = leftMs === null ? '' : ` · ${clock(leftMs)} credit left`;
  // Each session rounds up to a whole second, and long or parallel files take several.
  terminal.note(
    `Estimate: about ${wholeSeconds(totalMs) / 1000} s for ${clock(totalMs)} of audio${credit}`,
  );
  return leftMs !== null && totalMs > leftMs ? EXIT.noCredit : EXIT.done;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

/** Audio that is not sent is not charged, so with --skip-silence the file is read. */
async function msToSend(job: Job, skipSilence: boolean, signal: AbortSignal): Promise<number> {
  const known = restMs(job);
  if (known !== null && !skipSilence) return known;
  const nowhere: AudioSink = { write: () => Promise.resolve(), skip: () => undefined };
  const feeder = new Feeder(nowhere, { skipSilence });
  for await (const bytes of audioFrom(decodeFile(job.source, signal), earlierMs(job))) {
    await feeder.push(bytes);
  }
  await feeder.end();
  return Math.round(feeder.sentMs);
}
