import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIO, type ModelId, type ServerEvent } from '@svc-asr/protocol';
import { toPcm } from '@svc-asr/eval/audio.ts';
import { FRAME_MS, inRealTime } from '../engine/in-real-time.ts';
import { Call } from '../service/call.ts';
import type { Tenant } from '../service/fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import type { Conversation } from './conversation.ts';

const LAST_FINAL_MS = 3_000;

export interface LiveTurns {
  /** From the true end of speech to the arrival of its final. */
  readonly latenciesMs: number[];
  finals: number;
  /** Gaps and overlaps between the times of a stream's finals. */
  driftMs: number;
  /** Errors of speech_started and speech_ended, against the true times. */
  readonly speechErrorsMs: number[];
}

export function noTurns(): LiveTurns {
  return { latenciesMs: [], finals: 0, driftMs: 0, speechErrorsMs: [] };
}

/** How a client speaks to the service. */
export interface LiveSpeaker {
  readonly service: ServiceProcess;
  readonly tenant: Tenant;
  readonly model: ModelId;
  readonly conversation: Conversation;
  readonly silenceMs: number;
  readonly endedBy: 'server' | 'client';
  readonly detector?: 'level' | 'confirmed';
  readonly eagerMs?: number;
  /** Audio in one message. */
  readonly frameMs?: number;
}

/** What a client saw, by its own clock. */
export interface LiveRecord {
  readonly arrivals: readonly { readonly event: ServerEvent; readonly atMs: number }[];
  readonly beganMs: number;
  /** When each message with audio was sent. */
  readonly sentMs: readonly number[];
}

/** Streams a conversation in real time and records when each final arrives. */
export async function speakLive(tally: LiveTurns, speaker: LiveSpeaker): Promise<void> {
  const { arrivals, beganMs } = await recordLive(speaker);
  const reason = speaker.endedBy === 'server' ? 'endpoint' : 'flush';
  judge(tally, { arrivals, beganMs, turns: speaker.conversation.turns, reason });
}

/**
 * Streams a conversation in real time. The server ends a turn after `silenceMs`. As a control, the client can do it: it
 * knows when a turn is over, and sends a flush after the same silence.
 */
export async function recordLive(speaker: LiveSpeaker): Promise<LiveRecord> {
  const { service, tenant, model, silenceMs, endedBy, detector = 'level', eagerMs } = speaker;
  const { frameMs = FRAME_MS } = speaker;
  const pcm = toPcm(speaker.conversation.wave);
  const call = await Call.open(service, tenant, { model, max_audio_seconds: 300 });
  const { client } = call;
  const arrivals: { readonly event: ServerEvent; readonly atMs: number }[] = [];
  client.socket.on('message', (data: Buffer) => {
    arrivals.push({ event: JSON.parse(data.toString()), atMs: performance.now() });
  });
  if (endedBy === 'server') {
    const eager = eagerMs === undefined ? {} : { eager_ms: eagerMs };
    client.say({ type: 'config', endpointing: { silence_ms: silenceMs, detector, ...eager } });
    await client.next('config_ack');
  }
  const dueMs = speaker.conversation.turns.map(({ endSample }) => ms(endSample) + silenceMs);
  const beganMs = performance.now();
  const sentMs: number[] = [];
  for await (const frame of inRealTime(pcm, frameMs)) {
    call.send(frame);
    sentMs.push(performance.now());
    if (endedBy === 'server' || call.sentMs < (dueMs[0] ?? Infinity)) continue;
    dueMs.shift();
    client.say({ type: 'flush' });
  }
  await sleep(LAST_FINAL_MS);
  await client.close();
  return { arrivals, beganMs, sentMs };
}

function judge(
  tally: LiveTurns,
  input: {
    readonly arrivals: readonly { readonly event: ServerEvent; readonly atMs: number }[];
    readonly beganMs: number;
    readonly turns: Conversation['turns'];
    readonly reason: string;
  },
): void {
  let lineMs = 0;
  for (const { event, atMs } of input.arrivals) {
    if (event.type === 'speech_started' || event.type === 'speech_ended') {
      const truth = input.turns.map(({ startSample, endSample }) =>
        ms(event.type === 'speech_started' ? startSample : endSample),
      );
      tally.speechErrorsMs.push(Math.min(...truth.map((at) => Math.abs(at - event.audio_ms))));
    }
    if (event.type !== 'final') continue;
    tally.driftMs += Math.abs(event.start_ms - lineMs);
    lineMs = event.end_ms;
    // The close of the stream finalises the silence after the last turn.
    if (event.reason !== input.reason) continue;
    tally.finals += 1;
    const turn = input.turns.findLast(({ endSample }) => ms(endSample) <= event.end_ms);
    if (turn !== undefined) tally.latenciesMs.push(atMs - input.beganMs - ms(turn.endSample));
  }
}

function ms(sample: number): number {
  return (sample * 1000) / AUDIO.sampleRateHz;
}
