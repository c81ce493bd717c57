import { AUDIO, type AsrSession } from '@svc-asr/protocol';
import { SvcError } from '@svc-asr/sdk';
import { connect } from '../../../../clients/sdk/src/stream/socket-node.ts';
import type { Socket } from '../../../../clients/sdk/src/stream/socket.ts';
import type { Trace } from '../virtual/trace.ts';
import { startIn } from '../virtual/process.ts';
import { newRecord, sleep } from './client-record.ts';
import type { ClientPlan, ClientRecord } from './client.ts';
import { tapped, type SessionTap } from './session-tap.ts';
import { KEY_PREFIX, MODEL } from '../servers/settings.ts';
import { speak } from '../servers/speech.ts';

/** A client that neither closes nor is closed leaves after this long. */
const LEAVES_MS = 40_000;
const FRAME_MS = 20;
const REQUEST_MS = 10_000;
const REQUEST_EVERY_MS = 1_000;
const REQUESTS_MAX = 5;
/** How often and how soon a client tries again when the upgrade was refused with 503. */
const REOPENS_MAX = 40;
const REOPEN_MS = 150;

/** Starts an application that uses the socket directly, with frames and messages that break rules. */
export function startRawClient(plan: ClientPlan, trace: Trace): ClientRecord {
  const record = newRecord(plan);
  startIn(record.process, () => {
    setTimeout(() => void run(record, trace), plan.startMs);
  });
  return record;
}

async function run(record: ClientRecord, trace: Trace): Promise<void> {
  try {
    await abuse(await createSession(record.plan), record, trace);
    record.outcome = 'finished';
  } catch (error) {
    record.outcome = 'failed';
    record.error = error instanceof SvcError ? error.code : String(error);
  }
  trace.add(`${record.outcome} ${record.error ?? ''}`.trim());
}

/** Without an idempotency key, which the SDK always sends. */
async function createSession({ accountId, maxAudioSeconds }: ClientPlan): Promise<AsrSession> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch('https://api.simulated/v1/asr/sessions', {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY_PREFIX}${accountId}` },
      body: JSON.stringify({ model: MODEL, max_audio_seconds: maxAudioSeconds }),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    if (answer.status === 201) {
      const session: AsrSession = await answer.json();
      return session;
    }
    if (answer.status < 500 || attempt === REQUESTS_MAX) {
      throw new Error(`The API answered ${answer.status}.`);
    }
    await sleep(REQUEST_EVERY_MS);
  }
}

async function abuse(session: AsrSession, record: ClientRecord, trace: Trace): Promise<void> {
  const { name, speaker, steps } = record.plan;
  const ended: Promise<void>[] = [];
  const open = (): { socket: Socket; tap: SessionTap | undefined; opened: Promise<void> } => {
    const over = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    ended.push(over.promise);
    const socket = tapped(connect, { ...record, trace, name, isSdk: false })(
      { url: session.websocket_url, protocols: session.websocket_protocols },
      {
        onOpen: () => opened.resolve(),
        onText: () => {},
        onOffline: () => {},
        onEnd: () => {
          opened.resolve();
          over.resolve();
        },
      },
    );
    return { socket, tap: record.taps.at(-1), opened: opened.promise };
  };
  let first = open();
  const sockets = [first];
  const leaving = setTimeout(() => {
    for (const { socket } of sockets) socket.drop();
  }, LEAVES_MS);
  if (steps[0]?.do === 'open-at-once') sockets.push(open());
  if (steps[0]?.do !== 'pause' || steps[1]?.do !== 'drop') await first.opened;
  // As documented: the credential was not used, so it still works.
  for (let again = 0; again < REOPENS_MAX && isRefusedForNow(first.tap); again += 1) {
    await sleep(REOPEN_MS);
    first = open();
    sockets.push(first);
    await first.opened;
  }
  let position = 0;
  for (const step of steps) {
    if (first.tap?.end !== null) break;
    switch (step.do) {
      case 'bytes':
        for (let at = 0; at < step.times && first.tap.end === null; at += 1) {
          first.socket.send(oddBytes(speaker, position, step.bytes));
          position += step.bytes;
          if (step.bytes > 64) await sleep(FRAME_MS);
        }
        break;
      case 'burst':
        for (let at = 0; at < step.times; at += 1) {
          first.socket.send(oddBytes(speaker, position, step.bytes));
          position += step.bytes;
        }
        break;
      case 'text':
        for (let at = 0; at < step.times; at += 1) first.socket.send(step.text);
        break;
      case 'open-again':
        sockets.push(open());
        break;
      case 'pause':
        await sleep(step.ms);
        break;
      case 'close':
        first.socket.close();
        break;
      case 'drop':
        first.socket.drop();
        break;
      case 'open-at-once':
      case 'say':
      case 'say-fast':
      case 'silence':
      case 'skip':
      case 'flush':
      case 'reset':
      case 'keyterms':
        break;
    }
  }
  await Promise.all(ended);
  clearTimeout(leaving);
}

function isRefusedForNow(tap: SessionTap | undefined): boolean {
  return tap?.end?.refusal?.status === 503;
}

/** Any number of bytes of speech from any byte on. */
function oddBytes(speaker: number, fromByte: number, bytes: number): Uint8Array<ArrayBuffer> {
  const fromSample = Math.floor(fromByte / AUDIO.bytesPerSample);
  const whole = speak(speaker, fromSample, Math.ceil(bytes / AUDIO.bytesPerSample) + 1);
  const offset = fromByte % AUDIO.bytesPerSample;
  return whole.slice(offset, offset + bytes);
}
