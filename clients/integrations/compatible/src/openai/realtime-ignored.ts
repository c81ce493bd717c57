import { field, type JsonObject } from '@svc-asr/protocol/json-object.ts';
import type { Shape } from './realtime-events.ts';

/** What `session.update` may hold with an effect. `true`: a value. */
type Known = { readonly [name: string]: true | Known };

const TRANSCRIPTION: Known = { model: true, language: true, languages: true };
const TURN_DETECTION: Known = { type: true, silence_duration_ms: true };
const FORMAT: Known = { type: true, rate: true };
const KNOWN: Readonly<Record<Shape, Known>> = {
  ga: {
    type: true,
    audio: {
      input: { format: FORMAT, transcription: TRANSCRIPTION, turn_detection: TURN_DETECTION },
    },
  },
  beta: {
    input_audio_format: true,
    input_audio_transcription: TRANSCRIPTION,
    turn_detection: TURN_DETECTION,
  },
};
/** Names come from the caller, so only plain ones are repeated, and not many. */
const NAME = /^\w{1,40}$/;
const NAMES_MAX = 20;

/** The settings of an update that have no effect, such as `audio.input.noise_reduction`. */
export function ignoredSettings(session: JsonObject, shape: Shape): string[] {
  const path = shape === 'ga' ? ['audio', 'input', 'turn_detection'] : ['turn_detection'];
  const detection = path.reduce(field, session);
  // Turns end after a silence, whatever was said.
  const replaced = detection['type'] === 'semantic_vad' ? [[...path, 'type'].join('.')] : [];
  return [...replaced, ...namesIn(session, KNOWN[shape])].slice(0, NAMES_MAX);
}

function namesIn(given: JsonObject, known: Known): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    if (value === null || !NAME.test(name)) return [];
    const inside = Object.hasOwn(known, name) ? known[name] : undefined;
    if (inside === undefined) return [name];
    if (inside === true) return [];
    return namesIn(field(given, name), inside).map((each) => `${name}.${each}`);
  });
}
