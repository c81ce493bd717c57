import { AUDIO } from '@svc-asr/protocol';
import { decodeFiles } from '@svc-asr/eval/turns/decode.ts';
import { phrasesOf } from '@svc-asr/eval/turns/phrases.ts';
import { recordingsOf, voicesOf } from '@svc-asr/eval/turns/voices.ts';
import { converse, type Conversation } from './conversation.ts';
import { recordLive, type LiveSpeaker } from './live-turns.ts';

/** As short as "yes", "no" and a spelled letter. */
const SHORTEST_S = 0.2;
const LONGEST_S = 0.35;
const PER_VOICE = 3;
const FILES_PER_VOICE = 20;
const PAUSES = { pauseMinMs: 800, pauseMaxMs: 1_200 } as const;
/** The last sounds of a letter are quiet, and the detector may end it without them. */
const END_ERROR_SAMPLES = 0.25 * AUDIO.sampleRateHz;

/** Letters of 200 to 350 ms that people spelled, with pauses. */
export async function spelledLetters(): Promise<Conversation> {
  const letters: Float32Array[] = [];
  for (const voice of voicesOf('design').filter((each) => each.letters)) {
    const files = (await recordingsOf(voice)).slice(0, FILES_PER_VOICE);
    const phrases = (await decodeFiles(files)).flatMap((wave) => phrasesOf(voice.name, wave));
    const short = phrases.filter(({ wave }) => {
      const seconds = wave.length / AUDIO.sampleRateHz;
      return seconds >= SHORTEST_S && seconds <= LONGEST_S;
    });
    letters.push(...short.slice(0, PER_VOICE).map(({ wave }) => wave));
  }
  return converse(letters, { seed: 88, ...PAUSES });
}

/** Speaks them to the service. Returns how many weren't heard and ended, each on its own. */
export async function speakLetters(speaker: LiveSpeaker): Promise<number> {
  const { arrivals } = await recordLive(speaker);
  const ends = arrivals.flatMap(({ event }) =>
    event.type === 'speech_ended' ? [(event.audio_ms * AUDIO.sampleRateHz) / 1_000] : [],
  );
  return speaker.conversation.turns.filter(
    ({ endSample }) =>
      ends.filter((end) => Math.abs(end - endSample) < END_ERROR_SAMPLES).length !== 1,
  ).length;
}
