import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcClient, type CreditBalance } from '@svc-asr/sdk';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { wavOf } from '@svc-asr/testing/speech/wav.ts';
import { expect } from 'vitest';
import { envOf, runSvc, type Result } from './svc.ts';

export const TEXT = 'nĩ wega mũno';
const PAUSE = new Uint8Array(1_500 * 32);

/** A recording whose transcription is interrupted and continued. */
export class InterruptedRun {
  readonly file: string;
  readonly out: string;
  readonly journal: string;
  readonly audioMs: number;
  readonly #folder: string;
  readonly #emulator: Emulator;

  private constructor(folder: string, emulator: Emulator, audioMs: number) {
    this.#folder = folder;
    this.#emulator = emulator;
    this.audioMs = audioMs;
    this.file = join(folder, 'talk.wav');
    this.out = join(folder, 'out');
    this.journal = join(this.out, 'talk.resume.ndjson');
  }

  /**
   * The recording has pauses, so that finals come by endpointing as well as by Ctrl-C. The network's buffers take up to a
   * minute of audio before the program sees the signal, so there must be several minutes of it.
   */
  static async start({ turns }: { turns: number }): Promise<InterruptedRun> {
    const pcm = Buffer.concat(
      Array.from({ length: turns }, () => [speech('kikuyu-2').pcm, PAUSE]).flat(),
    );
    const folder = await mkdtemp(join(tmpdir(), 'svc-resume-'));
    const emulator = await startEmulatorOn(await createTestDatabase(), { texts: [TEXT] });
    const run = new InterruptedRun(folder, emulator, Math.ceil(pcm.byteLength / 32));
    await writeFile(run.file, wavOf(pcm));
    return run;
  }

  async end(): Promise<void> {
    await this.#emulator.stop();
    await rm(this.#folder, { recursive: true });
  }

  transcribe(
    args: readonly string[] = [],
    onStart?: Parameters<typeof runSvc>[1]['onStart'],
  ): Promise<Result> {
    const command = ['transcribe', '-l', 'ki', '-f', 'txt,json', '-o', this.out, this.file];
    return runSvc([...command, ...args], { env: envOf(this.#emulator), onStart });
  }

  usage(): Promise<CreditBalance> {
    const { url, apiKey } = this.#emulator;
    return new SvcClient({ baseUrl: url, apiKey }).usage.get();
  }

  /** Runs until the recogniser has taken that much audio, and `isSaved`, then sends a signal. */
  async stopAfter(
    ms: number,
    signal: 'SIGINT' | 'SIGKILL',
    isSaved = (): boolean => true,
  ): Promise<Result> {
    const { faults } = this.#emulator;
    const before = faults.met.length;
    faults.arm({ name: 'engine-pause', ms, times: 1 });
    return this.transcribe([], (child) => {
      const timer = setInterval(() => {
        if (faults.met.length === before || !isSaved()) return;
        clearInterval(timer);
        child.kill(signal);
      }, 1);
      // The program says at once that it stops, while the recogniser still takes nothing.
      child.stderr?.on('data', (text: string) => text.includes('Stopping') && faults.clear());
      child.on('exit', () => {
        clearInterval(timer);
        faults.clear();
      });
    });
  }

  /** The finals that were saved, empty ones too. */
  async savedFinals(): Promise<{ start_ms: number; end_ms: number }[]> {
    const lines = (await readFile(this.journal, 'utf8')).split('\n').slice(0, -1);
    return lines.flatMap((line) => JSON.parse(line).final ?? []);
  }

  async savedMs(): Promise<number> {
    return (await this.savedFinals()).at(-1)?.end_ms ?? 0;
  }
}

/**
 * Interrupts a run at these moments and continues it to its end: no file shrinks, and no audio is charged twice. Returns
 * its JSON.
 */
export async function continuedAfter(
  run: InterruptedRun,
  momentsMs: readonly number[],
): Promise<unknown> {
  let [endMs, partial] = [0, ''];
  for (const ms of momentsMs) {
    const { code, err } = await run.stopAfter(ms, 'SIGINT');
    expect(code).toBe(130);
    expect(err).toMatch(/✗ talk\.wav {2}Interrupted\. Transcribed up to .* to continue there\./);
    const reached = await run.savedMs();
    expect(reached).toBeGreaterThan(endMs);
    endMs = reached;
    const written = await readFile(join(run.out, 'talk.txt.partial'), 'utf8');
    expect(written.startsWith(partial.trimEnd())).toBe(true);
    partial = written;
    // Whole seconds, once per session.
    const { consumed_ms } = await run.usage();
    expect(consumed_ms).toBeLessThanOrEqual(endMs + momentsMs.length * 1_000);
  }
  const finals = await run.savedFinals();
  for (const [at, final] of finals.entries()) {
    const previous = finals[at - 1]?.end_ms ?? 0;
    expect(Math.abs(final.start_ms - previous)).toBeLessThanOrEqual(1);
  }
  const last = await run.transcribe();
  expect([last.code, last.err]).toEqual([0, expect.stringContaining('continued from')]);
  expect((await readdir(run.out)).toSorted()).toEqual(['talk.json', 'talk.txt']);
  return wholeResult(run, partial);
}

async function wholeResult(run: InterruptedRun, beginning: string): Promise<unknown> {
  const { audioMs, out } = run;
  const result = JSON.parse(await readFile(join(out, 'talk.json'), 'utf8'));
  const { consumed_ms, recent_sessions } = await run.usage();
  expect(recent_sessions.every(({ status }) => status === 'completed')).toBe(true);
  // Whole seconds, once per session.
  expect(consumed_ms).toBeLessThan(audioMs + result.sessions.length * 1_000);
  expect(result.charged_ms).toBe(consumed_ms);
  expect(result.finals.at(-1).end_ms).toBe(audioMs);
  expect(await readFile(join(out, 'talk.txt'), 'utf8')).toMatch(
    new RegExp(`^${beginning.trimEnd()}`),
  );
  return result;
}
