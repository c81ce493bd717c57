import { setTimeout as sleep } from 'node:timers/promises';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import type { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { Call } from './call.ts';
import { reserveSession, type Tenant } from './fleet.ts';
import { openStream } from './open-stream.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Some callers disconnect without closing. */
const VANISHING_SHARE = 0.2;
const OUR_FAULTS: ReadonlySet<string> = new Set([
  'internal_error',
  'service_restart',
  'initialization_timeout',
]);

/** The client's record of a finished session. */
export interface Outcome {
  readonly sessionId: string;
  readonly status: 'completed' | 'failed';
  readonly billedMs: number;
  /** How the client saw it end. One that vanishes doesn't see it. */
  readonly seen: string;
}

export const VANISHED = 'vanished';

export interface SoakRecord {
  readonly outcomes: Outcome[];
  /** A sentence for each unexpected result. */
  readonly surprises: string[];
}

interface CallerInput {
  readonly service: ServiceProcess;
  readonly tenant: Tenant;
  /** Of each session. */
  readonly utterances: number;
  readonly pauseMs: number;
  readonly record: SoakRecord;
}

/** Creates one session after another, streams in real time with pauses, and records the expected charge of each. */
export class SoakCaller {
  readonly #input: CallerInput;
  #isStopping = false;

  constructor(input: CallerInput) {
    this.#input = input;
  }

  stop(): void {
    this.#isStopping = true;
  }

  async run(): Promise<void> {
    const { pauseMs, record } = this.#input;
    // Stagger the starts.
    await sleep(Math.random() * pauseMs);
    while (!this.#isStopping) {
      await this.session().catch((error: unknown) => record.surprises.push(String(error)));
    }
  }

  async session(): Promise<void> {
    const { service, tenant, utterances, pauseMs, record } = this.#input;
    const sentence = SPEECH[Math.floor(Math.random() * SPEECH.length)];
    if (sentence === undefined) throw new Error('There is no speech.');
    const body = { model: sentence.model, max_audio_seconds: 60 };
    const session = await reserveSession(service.url, tenant, body);
    const client = await openStream(service.streamUrl, session).catch((error: unknown) => {
      const seen = String(error);
      // The database was lost during the upgrade and the session given up, or our own fault came before ready.
      if (!/ 401$|Closed with 101[123] /.test(seen)) throw error;
      record.outcomes.push({ sessionId: session.id, status: 'failed', billedMs: 0, seen });
      return null;
    });
    if (client === null) return;
    const call = new Call(session, client);
    for (let utterance = 0; utterance < utterances; utterance += 1) {
      await call.speak(sentence.pcm);
      const final = await call.flush();
      if (final === null) return this.#broken(client, session.id);
      if (final.text !== sentence.expected) record.surprises.push('A final has another text.');
      if (final.total_audio_ms !== Math.ceil(call.sentMs)) record.surprises.push('Audio was lost.');
      await sleep(Math.random() * pauseMs);
    }
    if (client.ofType('error').length > 0) return this.#broken(client, session.id);
    let seen = VANISHED;
    if (Math.random() < VANISHING_SHARE) client.socket.terminate();
    else {
      const { code, reason } = await client.close();
      if (code !== 1000) return this.#broken(client, session.id);
      seen = `${code} ${reason}`;
    }
    const { billedMs } = call;
    record.outcomes.push({ sessionId: session.id, status: 'completed', billedMs, seen });
  }

  /** A stream that the server ended. Only our own faults end one, and they cost nothing. */
  async #broken(client: StreamClient, sessionId: string): Promise<void> {
    const { record } = this.#input;
    client.socket.terminate();
    const [error] = client.ofType('error');
    const { code, reason } = await client.closed;
    if (error === undefined || !OUR_FAULTS.has(error.code)) {
      record.surprises.push(`A stream was closed with ${code} ${reason}.`);
      return;
    }
    const seen = `${error?.code}, ${code} ${reason}`;
    record.outcomes.push({ sessionId, status: 'failed', billedMs: 0, seen });
  }
}
