import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIO, type ModelId, type ServerEvent } from '@svc-asr/protocol';
import { toPcm } from '@svc-asr/eval/audio.ts';
import { reserveSession, type Tenant } from '../service/fleet.ts';
import { openStream } from '../service/open-stream.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import type { Conversation } from './conversation.ts';

const FRAME_MS = 100;
const FRAME_BYTES = (FRAME_MS * AUDIO.sampleRateHz * AUDIO.bytesPerSample) / 1000;
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

/**
 * Streams a conversation in real time and records when each final arrives. The server ends a turn after `silenceMs`. As a
 * control, the client can do it: it knows when a turn is over, and sends a flush after the same silence.
 */
export async function speakLive(
  tally: LiveTurns,
  input: {
    readonly service: ServiceProcess;
    readonly tenant: Tenant;
    readonly model: ModelId;
    readonly conversation: Conversation;
    readonly silenceMs: number;
    readonly endedBy: 'server' | 'client';
    readonly detector?: 'level' | 'confirmed';
  },
): Promise<void> {
  const { service, tenant, model, silenceMs, endedBy, detector = 'level' } = input;
  const pcm = toPcm(input.conversation.wave);
  const session = await reserveSession(service.url, tenant, { model, max_audio_seconds: 300 });
  const client = await openStream(service.streamUrl, session);
  const arrivals: { readonly event: ServerEvent; readonly atMs: number }[] = [];
  client.socket.on('message', (data: Buffer) => {
    arrivals.push({ event: JSON.parse(data.toString()), atMs: performance.now() });
  });
  if (endedBy === 'server') {
    client.say({ type: 'config', endpointing: { silence_ms: silenceMs, detector } });
    await client.next('config_ack');
  }
  const dueMs = input.conversation.turns.map(({ endSample }) => ms(endSample) + silenceMs);
  const beganMs = performance.now();
  for (let at = 0, frames = 1; at < pcm.byteLength; at += FRAME_BYTES, frames += 1) {
    // A microphone delivers a frame when its last sample has been spoken.
    await sleep(Math.max(0, beganMs + frames * FRAME_MS - performance.now()));
    client.send(pcm.subarray(at, at + FRAME_BYTES));
    if (endedBy === 'server' || frames * FRAME_MS < (dueMs[0] ?? Infinity)) continue;
    dueMs.shift();
    client.say({ type: 'flush' });
  }
  await sleep(LAST_FINAL_MS);
  await client.close();
  const reason = endedBy === 'server' ? 'endpoint' : 'flush';
  judge(tally, { arrivals, beganMs, turns: input.conversation.turns, reason });
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
