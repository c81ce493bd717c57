import { AUDIO } from '@svc-asr/protocol';
import { readLostKey } from '@svc-asr/protocol/lost-host.ts';
import { SvcClient, SvcError } from '@svc-asr/sdk';
import { connect } from '../../../../clients/sdk/src/stream/socket-node.ts';
import { SvcStream } from '../../../../clients/sdk/src/stream/svc-stream.ts';
import { watchSdk } from './sdk-watch.ts';
import { newRecord, sleep } from './client-record.ts';
import type { ClientPlan, ClientRecord } from './client.ts';
import { startIn } from '../virtual/process.ts';
import { tapped } from './session-tap.ts';
import { KEY_PREFIX, MODEL } from '../servers/settings.ts';
import { silence, speak } from '../servers/speech.ts';
import type { Trace } from '../virtual/trace.ts';

const FRAME_MS = 100;
const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1000;

/** Starts an application that uses the real SDK for everything: sessions, streaming, failover. */
export function startSdkClient(plan: ClientPlan, trace: Trace): ClientRecord {
  const record = newRecord(plan);
  startIn(record.process, () => {
    setTimeout(() => void talk(record, trace), plan.startMs);
  });
  return record;
}

async function talk(record: ClientRecord, trace: Trace): Promise<void> {
  const { name, accountId, maxAudioSeconds, endpointing, isConfirmed, keyterms } = record.plan;
  const { passesKey = true, closesEarly = false } = record.plan;
  const client = new SvcClient({
    baseUrl: 'https://api.simulated',
    apiKey: KEY_PREFIX + accountId,
  });
  const stream = new SvcStream(
    {
      endpointing: endpointing && { detector: isConfirmed === true ? 'confirmed' : 'level' },
      ...(keyterms === undefined ? {} : { keyterms }),
      getSession: async ({ why, idempotencyKey, signal }) => {
        trace.add(`asks for a session (${why})`, { from: name, to: 'api' });
        const lost = passesKey ? readLostKey(idempotencyKey)?.session : null;
        if (lost !== null && lost !== undefined) record.givenUp.add(lost.proof);
        const session = await client.sessions.create(
          { model: MODEL, maxAudioSeconds },
          passesKey ? { idempotencyKey, signal } : { signal },
        );
        trace.add(`session ${session.id.slice(0, 8)}`, { from: 'api', to: name });
        return session;
      },
    },
    tapped(connect, { ...record, trace, name, isSdk: true }),
  );
  const onFailed = watchSdk(stream, record.said, (violation) => record.violations.push(violation));
  try {
    await speakAll(stream, record);
    trace.add(closesEarly ? 'closes' : 'finishes');
    if (closesEarly) await stream.close();
    else await stream.finish();
    record.transcript = stream.transcript;
    record.outcome = closesEarly ? 'closed' : 'finished';
  } catch (error) {
    record.transcript = stream.transcript;
    record.outcome = 'failed';
    record.error = error instanceof SvcError ? error.code : String(error);
    onFailed(record.error);
  }
  trace.add(`${record.outcome} ${record.error ?? ''}`.trim());
}

async function speakAll(stream: SvcStream, record: ClientRecord): Promise<void> {
  const { plan, said } = record;
  let position = 0;
  const answered = (answer: Promise<unknown>): void => {
    record.unanswered += 1;
    const settle = (): void => void (record.unanswered -= 1);
    answer.then(settle, settle);
  };
  const chunkBytes = (plan.chunkMs ?? FRAME_MS) * SAMPLES_PER_MS * AUDIO.bytesPerSample;
  let chunk: Uint8Array[] = [];
  const writeChunk = async (): Promise<void> => {
    const pcm = Buffer.concat(chunk);
    chunk = [];
    if (pcm.byteLength > 0) await stream.write(pcm);
  };
  const write = async (pcm: Uint8Array): Promise<void> => {
    chunk.push(pcm);
    if (chunk.reduce((sum, part) => sum + part.byteLength, 0) >= chunkBytes) await writeChunk();
  };
  const say = async (ms: number, everyMs: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs -= FRAME_MS) {
      const samples = Math.min(leftMs, FRAME_MS) * SAMPLES_PER_MS;
      said.push({ what: 'speech', from: position, to: position + samples });
      await write(speak(plan.speaker, position, samples));
      position += samples;
      if (everyMs > 0) await sleep(everyMs);
    }
  };
  for (const step of plan.steps) {
    // Silence may share a chunk with the speech around it. Everything else comes after the audio before it.
    if (step.do !== 'say' && step.do !== 'say-fast' && step.do !== 'silence') await writeChunk();
    switch (step.do) {
      case 'say':
        await say(step.ms, FRAME_MS);
        break;
      case 'say-fast':
        await say(step.ms, 0);
        break;
      case 'silence':
        for (let leftMs = step.ms; leftMs > 0; leftMs -= FRAME_MS) {
          await write(silence(Math.min(leftMs, FRAME_MS) * SAMPLES_PER_MS));
          await sleep(FRAME_MS);
        }
        break;
      case 'skip':
        stream.skip(step.ms);
        break;
      case 'pause':
        await sleep(step.ms);
        break;
      case 'flush':
        said.push({ what: 'flush' });
        answered(stream.flush());
        break;
      case 'reset':
        said.push({ what: 'reset' });
        answered(stream.reset());
        break;
      case 'keyterms':
        stream.setKeyterms(step.keyterms);
        break;
      case 'bytes':
      case 'burst':
      case 'text':
      case 'open-again':
      case 'open-at-once':
      case 'close':
      case 'drop':
        break;
    }
  }
  await writeChunk();
}
