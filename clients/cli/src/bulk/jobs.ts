import { access } from 'node:fs/promises';
import type { ModelId } from '@svc-asr/sdk';
import { InterruptedError, type Context } from '../command.ts';
import type { InputFile } from '../input-files.ts';
import { durationMs } from '../media.ts';
import type { OutputPlan } from '../output-files.ts';
import { ResumeJournal } from './resume-journal.ts';

/** One file to transcribe. */
export interface Job {
  /** The name the user knows it by. */
  readonly path: string;
  /** The file that is read. */
  readonly source: string;
  /** Null if ffprobe can't tell. */
  readonly durationMs: number | null;
  /** Null without an output folder. */
  readonly journal: ResumeJournal | null;
}

/** A file that can't be transcribed. */
export interface Unusable {
  readonly path: string;
  readonly error: unknown;
}

interface JobOptions {
  readonly model: ModelId;
  readonly outputs: ReadonlyMap<string, OutputPlan> | null;
  readonly force: boolean;
  /** The file that holds standard input. */
  readonly sourceOf: (path: string) => string;
}

const READERS = 4;

/** Where the transcription of a file continues. */
export function earlierMs(job: Job): number {
  return job.journal?.earlier?.endMs ?? 0;
}

/** How much of a file is still to be transcribed. */
export function restMs(job: Job): number | null {
  return job.durationMs === null ? null : Math.max(0, job.durationMs - earlierMs(job));
}

/** Finds out the length of each file and how far earlier runs came. */
export async function prepareJobs(
  { interrupted, terminal }: Context,
  files: readonly InputFile[],
  options: JobOptions,
): Promise<(Job | Unusable)[]> {
  const prepared: (Job | Unusable)[] = [];
  let next = 0;
  const read = async (): Promise<void> => {
    for (let at = next++; at < files.length && !interrupted.aborted; at = next++) {
      const file = files[at];
      if (file !== undefined) prepared[at] = await prepare(file, options);
      if (files.length > READERS) terminal.live([`Reading file ${at + 1} of ${files.length} ...`]);
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  terminal.clearLive();
  return files.map(({ path }, at) => prepared[at] ?? { path, error: new InterruptedError() });
}

async function prepare({ path }: InputFile, options: JobOptions): Promise<Job | Unusable> {
  const { model, outputs, force, sourceOf } = options;
  const source = sourceOf(path);
  const plan = outputs?.get(path);
  try {
    await access(source);
    const [duration, journal] = await Promise.all([
      durationMs(source),
      plan === undefined ? null : ResumeJournal.open({ path: plan.journal, source, model, force }),
    ]);
    return { path, source, durationMs: duration, journal };
  } catch (error) {
    return { path, error };
  }
}
