import type { AsrSession, FinalEvent, ModelId } from '@svc-asr/protocol';
import type { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { reserveSession, type Tenant } from './fleet.ts';
import { openStream } from './open-stream.ts';
import { inRealTime } from '../engine/in-real-time.ts';

const BYTES_PER_MS = 32;

/** A session and its stream. It counts the audio that it sends, and so knows its charge. */
export class Call {
  readonly session: AsrSession;
  readonly client: StreamClient;
  sentMs = 0;

  constructor(session: AsrSession, client: StreamClient) {
    this.session = session;
    this.client = client;
  }

  /** Retries what is worth retrying, as documented. */
  static async open(
    service: { readonly url: string; readonly streamUrl: string },
    tenant: Tenant,
    body: { model: ModelId; max_audio_seconds?: number },
  ): Promise<Call> {
    const session = await reserveSession(service.url, tenant, body);
    return new Call(session, await openStream(service.streamUrl, session));
  }

  get isOpen(): boolean {
    const { socket } = this.client;
    return socket.readyState === socket.OPEN;
  }

  /** What the audio sent so far costs. */
  get billedMs(): number {
    return Math.ceil(this.sentMs / 1000) * 1000;
  }

  send(frame: Uint8Array): void {
    this.client.send(frame);
    this.sentMs += frame.byteLength / BYTES_PER_MS;
  }

  /** Sends the audio as it is spoken. Ends early if the stream does, or if `onFrame` returns false. */
  async speak(pcm: Uint8Array, onFrame?: () => boolean | void): Promise<void> {
    for await (const frame of inRealTime(pcm)) {
      if (!this.isOpen) return;
      this.send(frame);
      if (onFrame?.() === false) return;
    }
  }

  /** Repeats the sentence while `isTalking`, and while the stream lasts. */
  async repeat(pcm: Uint8Array, isTalking: () => boolean): Promise<void> {
    while (this.isOpen && isTalking()) await this.speak(pcm, isTalking);
  }

  /** Returns the final, or null if the stream broke. */
  async flush(): Promise<FinalEvent | null> {
    return this.isOpen ? this.client.flush().catch(() => null) : null;
  }

  /** Returns whether the call got a final for all of its audio and the close that it asked for. */
  async hangUp(): Promise<boolean> {
    const final = await this.flush();
    const { code } = await this.client.close();
    return code === 1000 && final?.total_audio_ms === Math.ceil(this.sentMs);
  }
}
