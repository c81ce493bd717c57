import { createWriteStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { round } from '@svc-asr/eval/statistics.ts';
import { distance } from '@svc-asr/protocol/word-errors.ts';
import type { Transcript } from '@svc-asr/sdk/stream';
import { childrenOf } from '@svc-asr/local/child-process.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { wavHeader } from '@svc-asr/testing/speech/wav.ts';
import { residentKib } from '../engine/processor.ts';
import { usageOf } from '../service/fleet.ts';
import type { CheckContext } from './client-checks.ts';
import { postFile, transcribeDirectly, type Answer } from './file-checks.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const BYTES_PER_S = 32_000;
const PAUSE = Buffer.alloc(BYTES_PER_S);
const CREDIT_MS = 20_000_000;
const SAMPLE_MS = 100;
/** How much of the file the SDK transcribes for comparison. */
const COMPARED_S = 300;
/** A word that is further away is another one. */
const NEAR_MS = 1_000;

export interface LongFileFigures {
  readonly long_file_s: number;
  /** Seconds of audio per second. */
  readonly long_file_speed: number;
  /** How much memory of the program and its ffmpeg the file needed, at its highest. */
  readonly long_file_mib: number;
  readonly long_file_receipt_different: number;
  /** CPU time of the program and ffmpeg per second of audio, and of a process that decodes and uses the SDK itself. */
  readonly cpu_ms_per_audio_s: number;
  readonly sdk_cpu_ms_per_audio_s: number;
  readonly words: number;
  /** Letters other than those of the sentences, and the same for the SDK without a voice gate. */
  readonly letters_wrong: number;
  readonly sdk_letters_wrong: number;
  /** Words that the SDK has joined or separated otherwise, which depends on where chunks begin. */
  readonly words_different: number;
  /** How far the start of a word is from where the SDK has it without a voice gate, at most. */
  readonly word_drift_ms: number;
}

/** Posts one long WAV file with curl while the program's memory and CPU time are measured. */
export async function checkLongFile(
  context: CheckContext,
  input: { readonly seconds: number; readonly log: (line: string) => void },
): Promise<LongFileFigures> {
  const { service, folder } = context;
  const { pid } = service.program;
  const [tenant, other] = await service.fleet.addTenants(2, CREDIT_MS);
  if (tenant === undefined || other === undefined) throw new Error('There are no accounts.');
  const { path } = await writeSpeech(join(folder, 'long.wav'), input.seconds);
  const memory = new MemoryWatch(pid);
  const cpuBefore = cpuMsWithChildren(pid);
  const began = performance.now();
  const answer = await postFile({ url: service.url, apiKey: tenant.apiKey, model: MODEL, path });
  const tookS = (performance.now() - began) / 1000;
  const cpuMs = cpuMsWithChildren(pid) - cpuBefore;
  const grownMib = memory.stop();
  const { consumed_ms } = await usageOf(service.api.url, tenant);
  const comparedS = Math.min(COMPARED_S, input.seconds);
  const short = await writeSpeech(join(folder, 'compared.wav'), comparedS);
  const sdkBefore = cpuMsWithChildren(process.pid);
  const direct = await transcribeDirectly({
    context,
    tenant: other,
    model: MODEL,
    path: short.path,
  });
  const sdkMs = cpuMsWithChildren(process.pid) - sdkBefore;
  const gated = await postFile({
    url: service.url,
    apiKey: tenant.apiKey,
    model: MODEL,
    path: short.path,
  });
  const mb = Math.round((await stat(path)).size / 1e6);
  input.log(`${input.seconds} s in ${mb} MB: ${Math.round(tookS)} s, ${grownMib} MiB more`);
  return {
    long_file_s: input.seconds,
    long_file_speed: round(input.seconds / tookS),
    long_file_mib: grownMib,
    long_file_receipt_different: answer.usage?.seconds === consumed_ms / 1000 ? 0 : 1,
    cpu_ms_per_audio_s: round(cpuMs / input.seconds),
    sdk_cpu_ms_per_audio_s: round(sdkMs / comparedS),
    letters_wrong: lettersWrong(
      gated.words.map(({ word }) => word),
      short.text,
    ),
    sdk_letters_wrong: lettersWrong(
      direct.words.map(({ text }) => text),
      short.text,
    ),
    ...wordDrift(gated, { direct, log: input.log }),
  };
}

/**
 * Compares the program's words, whose pauses were skipped, with those of the whole audio. A word that is there only once
 * must not shift all others, so the same words are looked for near the same time.
 */
function wordDrift(
  gated: Answer,
  input: { readonly direct: Transcript; readonly log: (line: string) => void },
): Pick<LongFileFigures, 'words' | 'words_different' | 'word_drift_ms'> {
  const { words } = input.direct;
  const drifts = words.map(({ text, start_ms }) =>
    gated.words
      .filter(({ word }) => word === text)
      .reduce((least, { start }) => Math.min(least, Math.abs(start * 1000 - start_ms)), Infinity),
  );
  const missing = words.filter((_, at) => (drifts[at] ?? Infinity) > NEAR_MS);
  for (const { text, start_ms } of missing) input.log(`not there at ${start_ms} ms: ${text}`);
  return {
    words: words.length,
    words_different: missing.length,
    word_drift_ms: Math.round(Math.max(0, ...drifts.filter((drift) => drift <= NEAR_MS))),
  };
}

/** How many letters must change, whatever the spaces between words. */
function lettersWrong(words: readonly string[], text: string): number {
  return distance(Array.from(words.join('')), Array.from(text));
}

/** Sentences with a second of silence between them, as a WAV file of this length, and their letters. */
async function writeSpeech(path: string, seconds: number): Promise<{ path: string; text: string }> {
  const sentences = SPEECH.filter(({ model }) => model === MODEL);
  const total = seconds * BYTES_PER_S;
  const file = createWriteStream(path);
  file.write(wavHeader(total));
  let left = total;
  let text = '';
  for (let at = 0; left > 0; at += 1) {
    const { pcm = PAUSE, expected = '' } = sentences[at % sentences.length] ?? {};
    text += expected.replaceAll(' ', '');
    for (const piece of [pcm, PAUSE]) {
      const bytes = piece.subarray(0, left);
      left -= bytes.byteLength;
      if (!file.write(bytes)) await once(file, 'drain');
    }
  }
  file.end();
  await once(file, 'close');
  return { path, text };
}

/** Samples the memory of a process and its children. */
class MemoryWatch {
  readonly #pid: number;
  readonly #beforeKib: number;
  readonly #timer: ReturnType<typeof setInterval>;
  #highestKib = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#beforeKib = this.#now();
    this.#timer = setInterval(() => {
      this.#highestKib = Math.max(this.#highestKib, this.#now());
    }, SAMPLE_MS);
  }

  /** Returns how many MiB more it was at its highest than at the start. */
  stop(): number {
    clearInterval(this.#timer);
    return Math.max(0, Math.round((this.#highestKib - this.#beforeKib) / 1024));
  }

  #now(): number {
    const pids = [this.#pid, ...childrenOf(this.#pid)];
    return pids.reduce((sum, pid) => sum + residentIfAlive(pid), 0);
  }
}

function residentIfAlive(pid: number): number {
  try {
    return residentKib(pid);
  } catch {
    return 0;
  }
}

const TICK_MS = 10;

/** The CPU time of a process and of the children that have ended. */
function cpuMsWithChildren(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  // utime, stime, cutime and cstime are the 14th to 17th fields. The name before them is cut off.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}
