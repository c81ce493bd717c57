import { AUDIO } from '@svc-asr/protocol';
import { overTelephone, powerOf } from '../conditions.ts';
import type { Conversation } from './conversation.ts';
import { throughCodec } from './decode.ts';
import { barks, breath, click, events, oneOf, telephoneTones, typing } from './noise-events.ts';
import { mainsHum, music, partOf, pink, reverberated, white, wind } from './noises.ts';
import type { Random } from './noises.ts';
import { SPEECH_DB, type Phrase } from './phrases.ts';

/** What the detector hears instead of a clean recording. */

/** Sounds of one half of the voices. */
export interface Sounds {
  readonly phrases: readonly Phrase[];
  readonly music: readonly Float32Array[];
  readonly alerts: readonly Float32Array[];
}

export interface TurnCondition {
  readonly name: string;
  /** Other people talk as well: no detector can tell who is meant. */
  readonly otherVoices: boolean;
  /** Two people take turns, and each of them is meant. */
  readonly isDialogue: boolean;
  /** Part of `--short`. */
  readonly short: boolean;
  readonly disturb: (
    conversation: Conversation,
    random: Random,
    sounds: Sounds,
  ) => Float32Array | Promise<Float32Array>;
}

type Noise = (length: number, random: Random, sounds: Sounds) => Float32Array;
const RATE = AUDIO.sampleRateHz;

export const CONDITIONS: readonly TurnCondition[] = [
  condition('clean', ({ wave }, random) => inRoom(wave, random), { short: true }),
  ...[20, 10, 5].flatMap((db) => [
    noisy(`white noise ${db} dB`, db, white, { room: false }),
    noisy(`pink noise ${db} dB`, db, pink, { room: false, short: db === 10 }),
    babble(`babble ${db} dB`, db),
  ]),
  condition('one voice 15 dB', oneOtherVoice, { otherVoices: true }),
  condition('market 10 dB', market, {}),
  noisy('mains hum 10 dB', 10, mainsHum),
  noisy('wind 5 dB', 5, wind, { short: true }),
  noisy('music 10 dB', 10, music),
  noisy('hold music 10 dB', 10, holdMusic, { short: true }),
  condition('telephone', ({ wave }, random) => overTelephone(inRoom(wave, random)), {
    short: true,
  }),
  condition('GSM, pink noise 20 dB', gsm, {}),
  condition('telephone, 5 % lost', lossy, {}),
  condition('Opus 12 kbit/s', opus, {}),
  withEvents('clicks', { make: click, minS: 0.1, maxS: 1 }),
  withEvents('keyboard', { make: typing, minS: 0.3, maxS: 2 }, { short: true }),
  withEvents('breathing', { make: breath, minS: 1, maxS: 3 }),
  condition('reverberation', reverberation, {}),
  condition('quiet, -35 dB', ({ wave }, random) => quiet(wave, 12, 42, random), {}),
  condition('quiet, -45 dB', ({ wave }, random) => quiet(wave, 22, 47, random), {}),
  condition('clipping', ({ wave }, random) => clipped(inRoom(wave, random), 10), {}),
  condition('telephone tones', telephoneWithTones, { short: true }),
  withEvents('barks', { make: barks, minS: 1, maxS: 4 }, { short: true }),
  condition('alerts', withAlerts, {}),
  dialogue('second speaker 6 dB quieter', 6),
  dialogue('second speaker 10 dB quieter', 10),
];

/** Sounds without speech: everything that is heard in them is false. */
export const WITHOUT_SPEECH: ReadonlyMap<string, Noise> = new Map<string, Noise>([
  ['pink noise', (length, random) => scaled(pink(length, random), 10)],
  ['music', (length, random) => scaled(music(length, random), 5)],
  ['hold music', (length, random, sounds) => scaled(holdMusic(length, random, sounds), 5)],
  ['telephone tones', only({ make: telephoneTones, minS: 1, maxS: 3 })],
  ['keyboard', only({ make: typing, minS: 0.3, maxS: 2 })],
  ['breathing', only({ make: breath, minS: 1, maxS: 3 })],
  ['wind', (length, random) => scaled(wind(length, random), 0)],
  ['barks', only({ make: barks, minS: 0.5, maxS: 3 })],
  [
    'alerts',
    (length, random, { alerts }) =>
      only({ make: oneOf(alerts), minS: 0.5, maxS: 2 })(length, random),
  ],
]);

function condition(
  name: string,
  disturb: TurnCondition['disturb'],
  marks: { otherVoices?: boolean; isDialogue?: boolean; short?: boolean },
): TurnCondition {
  const { otherVoices = false, isDialogue = false, short = false } = marks;
  return { name, otherVoices, isDialogue, short, disturb };
}

function noisy(
  name: string,
  db: number,
  noise: Noise,
  { room = true, short = false }: { room?: boolean; short?: boolean } = {},
): TurnCondition {
  return condition(
    name,
    ({ wave }, random, sounds) => {
      const base = room ? inRoom(wave, random) : wave;
      return mixed(base, scaled(noise(wave.length, random, sounds), db));
    },
    { short },
  );
}

type Events = Parameters<typeof events>[2];

function withEvents(name: string, options: Events, marks: { short?: boolean } = {}): TurnCondition {
  return condition(
    name,
    ({ wave }, random) => mixed(inRoom(wave, random), events(wave.length, random, options)),
    marks,
  );
}

function only(options: Events): (length: number, random: Random) => Float32Array {
  return (length, random) =>
    mixed(scaled(pink(length, random), 42), events(length, random, options));
}

function babble(name: string, db: number): TurnCondition {
  return condition(
    name,
    ({ wave, voice }, random, { phrases }) =>
      mixed(inRoom(wave, random), scaled(talk(wave.length, 7, voice, phrases, random), db)),
    { otherVoices: db <= 10 },
  );
}

function oneOtherVoice(
  { wave, voice }: Conversation,
  random: Random,
  { phrases }: Sounds,
): Float32Array {
  const others = phrases.filter((phrase) => phrase.voice !== voice);
  const other = others[Math.floor(random() * others.length)]?.voice;
  const theirs = others.filter((phrase) => phrase.voice === other);
  const said = talk(wave.length, 1, voice, theirs, random, 2);
  return mixed(
    inRoom(wave, random),
    said.map((sample) => sample * 10 ** (-15 / 20)),
  );
}

/** The second speaker sits farther from the microphone. */
function dialogue(name: string, quieterDb: number): TurnCondition {
  return condition(
    name,
    ({ wave, phrases }, random) => {
      const said = wave.slice();
      for (const { start, end } of phrases.filter(({ second }) => second)) {
        for (let at = start; at < end; at += 1)
          said[at] = (said[at] ?? 0) * 10 ** (-quieterDb / 20);
      }
      return inRoom(said, random);
    },
    { otherVoices: true, isDialogue: true, short: true },
  );
}

function market({ wave, voice }: Conversation, random: Random, { phrases }: Sounds): Float32Array {
  const crowd = talk(wave.length, 30, voice, phrases, random);
  const far = reverberated(crowd, { seconds: 0.5, directDb: -6, random });
  return mixed(wave, scaled(mixed(far, scaled(pink(wave.length, random), 14)), 10));
}

/** Several voices at once, each with short pauses. */
function talk(
  length: number,
  voices: number,
  not: string,
  phrases: readonly Phrase[],
  random: Random,
  pauseMaxS = 0.5,
): Float32Array {
  const others = phrases.filter(({ voice, wave }) => voice !== not && wave.length > 0.5 * RATE);
  const said = new Float32Array(length);
  for (let voice = 0; voice < voices; voice += 1) {
    const gain = 10 ** ((3 * (random() + random() - 1)) / 20);
    for (let at = Math.floor(random() * RATE); at < length;) {
      const { wave } = others[Math.floor(random() * others.length)] ?? { wave: said };
      for (let i = 0; i < wave.length && at + i < length; i += 1) {
        said[at + i] = (said[at + i] ?? 0) + gain * (wave[i] ?? 0);
      }
      at += wave.length + Math.floor(random() * pauseMaxS * RATE) + 800;
    }
  }
  return said;
}

function holdMusic(length: number, random: Random, sounds: Sounds): Float32Array {
  return partOf(sounds.music, length, random);
}

function withAlerts({ wave }: Conversation, random: Random, { alerts }: Sounds): Float32Array {
  const options = { make: oneOf(alerts), minS: 1, maxS: 4 };
  return mixed(inRoom(wave, random), events(wave.length, random, options));
}

function telephoneWithTones({ wave }: Conversation, random: Random): Float32Array {
  const options = { make: telephoneTones, minS: 2, maxS: 5 };
  return overTelephone(mixed(inRoom(wave, random), events(wave.length, random, options)));
}

function lossy({ wave }: Conversation, random: Random): Float32Array {
  const line = overTelephone(inRoom(wave, random));
  const packet = RATE / 50;
  for (let at = 0; at < line.length; at += packet) {
    if (random() < 0.05) line.fill(0, at, at + packet * (1 + Math.floor(random() ** 2 * 3)));
  }
  return line;
}

function gsm({ wave }: Conversation, random: Random): Promise<Float32Array> {
  const noisyLine = mixed(wave, scaled(pink(wave.length, random), 20));
  const encode = ['-af', 'highpass=f=300,lowpass=f=3400', '-ar', '8000', '-c:a', 'libgsm'];
  return throughCodec(noisyLine, { encode, file: 'coded.gsm' });
}

function opus({ wave }: Conversation, random: Random): Promise<Float32Array> {
  const encode = ['-c:a', 'libopus', '-b:a', '12k', '-application', 'voip'];
  return throughCodec(inRoom(wave, random), { encode, file: 'coded.ogg' });
}

function reverberation({ wave }: Conversation, random: Random): Float32Array {
  const far = reverberated(wave, { seconds: 0.6, directDb: 0, random });
  return mixed(
    far.map((sample) => 0.7 * sample),
    scaled(pink(wave.length, random), 25),
  );
}

function quiet(wave: Float32Array, byDb: number, noiseDb: number, random: Random): Float32Array {
  const soft = wave.map((sample) => sample * 10 ** (-byDb / 20));
  return mixed(soft, scaled(pink(wave.length, random), noiseDb));
}

function clipped(wave: Float32Array, gain: number): Float32Array {
  return wave.map((sample) => Math.max(-1, Math.min(1, sample * gain)));
}

function inRoom(wave: Float32Array, random: Random): Float32Array {
  return mixed(wave, scaled(pink(wave.length, random), 42));
}

/** Noise this much quieter than the speech. */
function scaled(noise: Float32Array, belowDb: number): Float32Array {
  const level = 10 ** ((SPEECH_DB - belowDb) / 20) / Math.sqrt(powerOf(noise) + 1e-12);
  return noise.map((sample) => sample * level);
}

function mixed(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((sample, at) => sample + (b[at] ?? 0));
}
