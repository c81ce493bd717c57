import { AUDIO, type ServerEvent } from '@svc-asr/protocol';
import type { Conversation } from './conversation.ts';
import type { LiveRecord } from './live-turns.ts';

/** Where the time from the end of speech to the final went, in milliseconds. */
export interface TurnParts {
  /** How late the detector heard the end of speech. Negative: early. */
  readonly heard: number;
  /** From there to the end of the utterance: the silence, up to the end of a frame of the detector. */
  readonly silence: number;
  /** Until the client's message with that sample was complete and sent. */
  readonly message: number;
  /** Until `speech_ended` arrived: network, the wait for the second detector, the gateway. */
  readonly decision: number;
  /** Until the final arrived: the wait in the recogniser, its decodes, network. */
  readonly decode: number;
  readonly total: number;
}

/** The parts of every turn that an endpoint ended. */
export function turnParts(
  { arrivals, beganMs, sentMs }: LiveRecord,
  { turns, frameMs }: { readonly turns: Conversation['turns']; readonly frameMs: number },
): TurnParts[] {
  const parts: TurnParts[] = [];
  let ended: { readonly audioMs: number; readonly atMs: number } | null = null;
  for (const { event, atMs } of arrivals) {
    if (event.type === 'speech_ended') ended = { audioMs: event.audio_ms, atMs };
    if (!isEndpoint(event) || ended === null) continue;
    const spokenMs = lastEndMs(turns, event.end_ms);
    const sent = sentMs[Math.ceil(event.end_ms / frameMs) - 1];
    if (spokenMs === null || sent === undefined) continue;
    parts.push({
      heard: ended.audioMs - spokenMs,
      silence: event.end_ms - ended.audioMs,
      message: sent - beganMs - event.end_ms,
      decision: ended.atMs - sent,
      decode: atMs - ended.atMs,
      total: atMs - beganMs - spokenMs,
    });
  }
  return parts;
}

function isEndpoint(event: ServerEvent): event is Extract<ServerEvent, { type: 'final' }> {
  return event.type === 'final' && event.reason === 'endpoint';
}

/** The end of the last turn that was over by then. */
function lastEndMs(turns: Conversation['turns'], untilMs: number): number | null {
  const ends = turns.map(({ endSample }) => (endSample * 1_000) / AUDIO.sampleRateHz);
  return ends.findLast((endMs) => endMs <= untilMs) ?? null;
}
