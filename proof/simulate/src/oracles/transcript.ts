import { parseTranscript, spokenRuns, type Run } from '../servers/speech.ts';
import type { ClientRecord, Said } from '../clients/client.ts';

/** How many samples of a word the transcript must and may have. */
interface Bounds {
  least: number;
  most: number;
}

/**
 * Compares what the SDK delivered with what was said, to the sample. Speech before a reset may be missing: it is there only
 * as far as it was final before. A stream that failed or was closed may lack its end. Utterances
 * of less than 100 ms are not recognised.
 */
export function checkTranscript(client: ClientRecord): string[] {
  const { plan, said, transcript, outcome } = client;
  if (plan.kind !== 'sdk' || transcript === null) return [];
  const recognised = parseTranscript(transcript.finals.map(({ text }) => text).join(' '));
  const problems: string[] = [];
  if (recognised.some(({ speaker }) => speaker !== plan.speaker)) {
    problems.push('the transcript has words of somebody else');
  }
  const words = recognised.map(({ word }) => word);
  if (words.some((word, at) => at > 0 && word <= (words[at - 1] ?? 0))) {
    problems.push(`the transcript is out of order: ${words.join(' ')}`);
  }
  // The next session recognises the whole utterance.
  if (transcript.finals.some(({ reason }) => reason === 'draining')) {
    problems.push('the transcript has an utterance that a restart cut');
  }
  if (client.taps.some(({ watch }) => watch.excessMs > 0)) {
    problems.push('a session got more audio than it accepts');
  }
  const bounds = boundsOf(said, plan.speaker);
  const lastWord = words.at(-1) ?? 0;
  let missing = 0;
  for (const [word, { least, most }] of bounds) {
    const samples = samplesOf(recognised, word);
    if (samples > most) problems.push(`word ${word} has ${samples} samples, and ${most} were said`);
    const mayLack = outcome !== 'finished' && word >= lastWord;
    if (!mayLack) missing += Math.max(0, least - samples);
  }
  const tooShort = transcript.finals.filter(({ text, audio_ms: ms }) => text === '' && ms < 100);
  const mayMiss = tooShort.reduce((sum, { audio_ms: ms }) => sum + ms * 16, 0);
  if (missing > mayMiss)
    problems.push(`${missing} samples are missing: ${describeRuns(recognised)}`);
  for (const word of words) {
    if (!bounds.has(word)) problems.push(`word ${word} was never said`);
  }
  return problems.map((problem) => `transcript: ${problem}`);
}

function describeRuns(runs: readonly Run[]): string {
  return runs.map(({ word, samples }) => `${word}x${samples}`).join(' ');
}

function boundsOf(said: readonly Said[], speaker: number): Map<number, Bounds> {
  const bounds = new Map<number, Bounds>();
  const add = (runs: readonly Run[], isCertain: boolean): void => {
    for (const { word, samples } of runs) {
      const known = bounds.get(word) ?? { least: 0, most: 0 };
      known.most += samples;
      if (isCertain) known.least += samples;
      bounds.set(word, known);
    }
  };
  let open: Run[] = [];
  for (const step of said) {
    switch (step.what) {
      case 'speech':
        open.push(...spokenRuns(speaker, step.from, step.to));
        break;
      case 'flush':
      case 'reset':
        add(open, step.what === 'flush');
        open = [];
        break;
    }
  }
  add(open, true);
  return bounds;
}

function samplesOf(runs: readonly Run[], word: number): number {
  return runs.reduce((sum, run) => (run.word === word ? sum + run.samples : sum), 0);
}
