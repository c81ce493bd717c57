import { fluxDoor } from './deepgram/flux.ts';
import { listenDoor } from './deepgram/listen.ts';
import type { Door } from './door.ts';
import { models } from './openai/models.ts';
import { realtime } from './openai/realtime.ts';
import { transcriptions, translations } from './openai/transcriptions.ts';

/** Every endpoint of this program. */
export const DOORS: readonly Door[] = [
  models,
  transcriptions,
  translations,
  realtime,
  listenDoor,
  fluxDoor,
];
