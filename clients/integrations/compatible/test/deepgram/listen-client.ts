import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { wavToPcm16k } from '@svc-asr/sdk/audio';
import { WebSocket } from 'ws';
import type { ListenMessage, Results } from '../../src/deepgram/messages.ts';

export const SPEECH_FILE = join(
  import.meta.dirname,
  '../../../../../core/models/fixtures/kikuyu-2.wav',
);
/** A recorded sentence, 16 kHz. */
export const SENTENCE = bytesOf(wavToPcm16k(readFileSync(SPEECH_FILE)));
export const RAW = 'encoding=linear16&sample_rate=16000';
const FRAME_BYTES = 3_200;

export function silence(ms: number): Buffer {
  return Buffer.alloc(ms * 32);
}

function bytesOf(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** The sentence in another format, such as OGG/Opus. */
export function encoded(...format: readonly string[]): Buffer {
  return execFileSync('ffmpeg', ['-v', 'error', '-i', SPEECH_FILE, ...format, '-']);
}

/** A handshake that was refused, in Deepgram's form. */
export class RefusedHandshake extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: {
    readonly err_code: string;
    readonly err_msg: string;
    readonly request_id: string;
  };

  constructor(response: IncomingMessage, body: string) {
    super(body);
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.body = JSON.parse(body);
  }
}

/** A plain Deepgram client: it sends what it is told to and keeps what it gets. */
export class ListenClient {
  readonly messages: ListenMessage[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly #socket: WebSocket;
  #waiting: (() => void)[] = [];

  private constructor(socket: WebSocket, headers: Readonly<Record<string, unknown>>) {
    this.#socket = socket;
    this.headers = headers;
    this.protocol = socket.protocol;
    socket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()));
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#wake();
      });
    });
  }

  /** Rejects with `RefusedHandshake`. */
  static async open(
    url: string,
    input: {
      readonly key?: string;
      readonly query?: string;
      readonly path?: string;
      readonly protocols?: readonly string[];
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): Promise<ListenClient> {
    const { key, query = `model=svc-asr-kikuyu-v1&${RAW}`, path = '/v1/listen' } = input;
    const address = `${url.replace(/^http/, 'ws')}${path}?${query}`;
    const socket = new WebSocket(address, [...(input.protocols ?? [])], {
      headers: {
        ...(key === undefined ? {} : { authorization: `Token ${key}` }),
        ...input.headers,
      },
    });
    return new Promise((resolve, reject) => {
      let headers = {};
      socket.once('upgrade', (response) => (headers = response.headers));
      socket.once('open', () => resolve(new ListenClient(socket, headers)));
      socket.once('error', reject);
      socket.once('unexpected-response', (_request, response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('end', () => reject(new RefusedHandshake(response, body)));
      });
    });
  }

  sendAudio(bytes: Uint8Array, frameBytes = FRAME_BYTES): void {
    for (let at = 0; at < bytes.byteLength; at += frameBytes) {
      this.#socket.send(bytes.subarray(at, at + frameBytes));
    }
  }

  sendEmptyFrame(): void {
    this.#socket.send(Buffer.alloc(0));
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  command(type: 'KeepAlive' | 'Finalize' | 'CloseStream' | 'Configure', fields = {}): void {
    this.sendText(JSON.stringify({ type, ...fields }));
  }

  /** Breaks the connection without a close frame. */
  drop(): void {
    this.#socket.terminate();
  }

  /** Waits for a message, now or before. */
  async received(isWanted: (message: ListenMessage) => boolean): Promise<ListenMessage> {
    for (;;) {
      const found = this.messages.find(isWanted);
      if (found !== undefined) return found;
      if (this.#socket.readyState === WebSocket.CLOSED) throw new Error('The socket has closed.');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  get results(): Results[] {
    return this.messages.filter((message) => message.type === 'Results');
  }

  get finals(): Results[] {
    return this.results.filter((result) => result.is_final);
  }

  get text(): string {
    const texts = this.finals.map((result) => result.channel.alternatives[0].transcript);
    return texts.filter((text) => text !== '').join(' ');
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
