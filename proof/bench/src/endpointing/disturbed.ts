import type { Conversation as Spoken } from '@svc-asr/eval/turns/conversation.ts';
import { SPEECH_DB } from '@svc-asr/eval/turns/phrases.ts';
import { CONDITIONS } from '@svc-asr/eval/turns/turn-conditions.ts';
import { powerOf, seededRandom } from '@svc-asr/eval/conditions.ts';
import type { Conversation } from './conversation.ts';

/** Sounds that hide pauses from the level detector. Those that need no recordings. */
const NAMES = [
  'pink noise 10 dB',
  'wind 5 dB',
  'music 10 dB',
  'keyboard',
  'telephone tones',
  'barks',
] as const;

const NO_RECORDINGS = { phrases: [], music: [], alerts: [] };

/** The same conversation with six kinds of noise, by name. */
export async function disturbed(
  conversation: Conversation,
  seed: number,
): Promise<ReadonlyMap<string, Conversation>> {
  const spoken = atSpeechLevel(conversation);
  const all = new Map<string, Conversation>();
  for (const [at, name] of NAMES.entries()) {
    const condition = CONDITIONS.find((each) => each.name === name);
    if (condition === undefined) throw new Error(`There is no condition ${name}.`);
    const wave = await condition.disturb(spoken, seededRandom(100 * seed + at), NO_RECORDINGS);
    all.set(name, { ...conversation, wave });
  }
  return all;
}

/** The noise is this much quieter than speech at a fixed level. */
function atSpeechLevel({ wave, turns }: Conversation): Spoken {
  const powers = turns.map(({ startSample, endSample }) =>
    powerOf(wave.subarray(startSample, endSample)),
  );
  const power = powers.reduce((sum, each) => sum + each, 0) / powers.length;
  const gain = 10 ** (SPEECH_DB / 20) / Math.sqrt(power);
  return { voice: '', letters: false, phrases: [], wave: wave.map((sample) => sample * gain) };
}
