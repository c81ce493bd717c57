import type { Language } from '@svc-asr/protocol/languages.ts';
import { MODELS } from '@svc-asr/protocol/languages.ts';
import type { SvcClient } from '@svc-asr/sdk';
import { VoiceGate } from '@svc-asr/sdk/audio';
import { openStream, type FinalEvent, type GetSession, type SvcStream } from '@svc-asr/sdk/stream';
import type { RecordedTurn } from '../events.ts';
import { reserveSession } from '../reserve-session.ts';

export interface RecordingStreamOptions {
  readonly client: SvcClient;
  readonly language: Language;
  readonly silenceMs: number;
  readonly keyterms: readonly string[];
  readonly signal: AbortSignal;
  /** How long to wait for a session while calls and other recordings have those of the account. */
  readonly waitMsMax: number;
  readonly onTurn: (turn: RecordedTurn) => void;
  /** How much of the recording was sent so far. */
  readonly onAudio: (audioMs: number) => void;
}

const BYTES_PER_MS = 32;

/**
 * Sends decoded audio, 16 kHz PCM in 16 bits, as fast as the service takes it and without its long silences. The
 * session is reserved after the first audio was decoded, so that a broken file needs none.
 */
export async function transcribeRecording(
  pcm: AsyncIterable<Uint8Array>,
  options: RecordingStreamOptions,
): Promise<void> {
  const gate = new VoiceGate({ holdMs: options.silenceMs });
  let stream: SvcStream | null = null;
  let bytes = 0;
  try {
    for await (const frame of pcm) {
      stream ??= await open(options);
      bytes += frame.byteLength;
      await send(stream, gate.push(toSamples(frame)));
      options.onAudio(Math.round(bytes / BYTES_PER_MS));
    }
    if (stream === null) return;
    await send(stream, gate.end());
    await stream.finish();
  } finally {
    await stream?.close();
  }
}

async function open(options: RecordingStreamOptions): Promise<SvcStream> {
  const { client, language, silenceMs, keyterms, signal, waitMsMax, onTurn } = options;
  const account = { client, model: MODELS[language] };
  // A stream waits two minutes for a session, so the first one is reserved before.
  let first: Awaited<ReturnType<GetSession>> | null = await reserveSession({
    ...account,
    waitMsMax,
  })({ signal });
  const later = reserveSession(account);
  const stream = openStream({
    signal,
    getSession: async (asked) => {
      const session = first ?? (await later(asked));
      first = null;
      return session;
    },
    endpointing: { silenceMs },
    ...(keyterms.length > 0 && { keyterms }),
  });
  stream.on('final', (final) => {
    if (final.text !== '') onTurn(turnOf(final));
  });
  return stream;
}

/** One piece for all that the gate passes: every frame costs the service time. */
async function send(stream: SvcStream, outputs: ReturnType<VoiceGate['push']>): Promise<void> {
  for (const output of outputs) {
    if (output.do === 'skip') stream.skip(output.ms);
    else await stream.write(output.samples);
  }
}

function turnOf({ text, start_ms, end_ms, confidence, words }: FinalEvent): RecordedTurn {
  return {
    text,
    start_ms,
    end_ms,
    confidence: confidence ?? null,
    words: words.map((word) => ({ ...word, confidence: word.confidence ?? null })),
  };
}

/** A copy, because a view of 16-bit samples must begin at an even address. */
function toSamples(bytes: Uint8Array): Int16Array {
  const copy = Uint8Array.from(bytes);
  return new Int16Array(copy.buffer, 0, copy.byteLength / 2);
}
