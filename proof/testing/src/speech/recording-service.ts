import {
  SileroConfirmer,
  startSherpaEngine,
  type Engine,
  type EngineStream,
} from '@svc-asr/engine';
import { STREAM_PATH } from '@svc-asr/protocol';
import { eventually } from '../eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startService } from '../service/service.ts';
import { MODELS_DIR } from './fixtures.ts';

/** The audio of one utterance, as the recogniser received it, and its final. */
export interface RecordedUtterance {
  readonly samples: Int16Array;
  readonly text: string;
}

export interface RecordingService {
  /** The settings of clients: SVC_BASE_URL and SVC_API_KEY. */
  readonly env: Readonly<Record<string, string>>;
  /** Waits until no stream is open, and returns the utterances since the last call. */
  take(): Promise<readonly RecordedUtterance[]>;
  stop(): Promise<void>;
}

/** Starts a service with the bundled models that records the audio that reaches the recogniser. `confirming`: with the second detector. */
export async function startRecordingService({
  confirming = false,
} = {}): Promise<RecordingService> {
  const port = String(await freePort());
  const sherpa = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  const recorder = new Recorder(sherpa);
  const confirmer = confirming ? await SileroConfirmer.load() : null;
  const service = await startService({
    env: {
      PORT: port,
      PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}${STREAM_PATH}`,
      ALLOW_INSECURE_WS: '1',
    },
    parts: { engine: recorder.engine, ...(confirmer === null ? {} : { confirmer }) },
  });
  return {
    env: { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey },
    take: () => recorder.take(),
    async stop() {
      await service.stop();
      await sherpa.close();
    },
  };
}

class Recorder {
  readonly engine: Engine;
  #utterances: RecordedUtterance[] = [];
  #open = 0;

  constructor(engine: Engine) {
    this.engine = {
      describe: (model) => engine.describe(model),
      health: () => engine.health(),
      close: () => engine.close(),
      open: async (input) => this.#record(await engine.open(input)),
    };
  }

  async take(): Promise<readonly RecordedUtterance[]> {
    await eventually(() => this.#open === 0);
    const taken = this.#utterances;
    this.#utterances = [];
    return taken;
  }

  #record(stream: EngineStream): EngineStream {
    const flushed: Int16Array[] = [];
    let written: Uint8Array[] = [];
    let isClosed = false;
    this.#open += 1;
    return {
      chunkSamples: stream.chunkSamples,
      get build() {
        return stream.build;
      },
      get recogniser() {
        return stream.recogniser;
      },
      events: this.#withFinals(stream.events, flushed),
      write(pcm) {
        // Copy it, because the engine takes ownership of the buffer.
        written.push(Uint8Array.from(pcm));
        return stream.write(pcm);
      },
      flush() {
        flushed.push(new Int16Array(Uint8Array.from(Buffer.concat(written)).buffer));
        written = [];
        stream.flush();
      },
      reset() {
        written = [];
        stream.reset();
      },
      expect: (keyterms) => stream.expect(keyterms),
      close: () => {
        if (!isClosed) this.#open -= 1;
        isClosed = true;
        return stream.close();
      },
    };
  }

  async *#withFinals(
    events: EngineStream['events'],
    flushed: Int16Array[],
  ): EngineStream['events'] {
    for await (const event of events) {
      const samples = event.type === 'final' ? flushed.shift() : undefined;
      if (event.type === 'final' && samples !== undefined) {
        this.#utterances.push({ samples, text: event.text });
      }
      yield event;
    }
  }
}
