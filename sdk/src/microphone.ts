import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { toPcm16 } from './audio/pcm.ts';
import { Resampler } from './audio/resampler.ts';
import { SvcError } from './errors.ts';
import { MICROPHONE_WORKLET } from './microphone-worklet.ts';
import { levelDb } from './voice-activity.ts';
import { VoiceGate, type GateOptions } from './voice-gate.ts';

export { MICROPHONE_WORKLET } from './microphone-worklet.ts';
export type { GateOptions } from './voice-gate.ts';

/** What a microphone feeds. `openStream()` gives one. */
export interface AudioSink {
  write(samples: Int16Array): Promise<void>;
  skip(ms: number): void;
}

export interface MicrophoneOptions {
  readonly sink: AudioSink;
  /** Holds silence back, which saves its cost. Default: off. */
  readonly gate?: boolean | GateOptions;
  /** About ten times a second, in dB against full scale: -100 is silence, 0 the loudest there is. */
  readonly onLevel?: (db: number) => void;
  /** The microphone was unplugged or its permission withdrawn. */
  readonly onLost?: () => void;
  readonly deviceId?: string;
  /**
   * Echo cancellation, noise suppression and automatic gain by the browser. They are made for ears and can cost a
   * recogniser words; turn them on where the page plays sound while it listens. Default: off.
   */
  readonly voiceProcessing?: boolean;
  /**
   * For pages whose Content-Security-Policy forbids blob: scripts: where you serve the text MICROPHONE_WORKLET as
   * JavaScript.
   */
  readonly workletUrl?: string;
}

export interface Microphone {
  /** While muted nothing is sent and nothing is charged; time goes on. */
  muted: boolean;
  readonly sentMs: number;
  readonly skippedMs: number;
  /** Gives the microphone back. The stream is yours to finish. */
  stop(): Promise<void>;
}

/** Asks for the microphone and feeds it to the sink as 16 kHz PCM. Call it from a click: browsers insist. */
export async function openMicrophone(options: MicrophoneOptions): Promise<Microphone> {
  const media = await askForMicrophone(options);
  try {
    return await capture(media, options);
  } catch (error) {
    for (const track of media.getTracks()) track.stop();
    throw error;
  }
}

async function askForMicrophone(options: MicrophoneOptions): Promise<MediaStream> {
  const { deviceId, voiceProcessing = false } = options;
  const { mediaDevices } = navigator;
  // Absent on pages that are not secure: plain http other than localhost.
  if (mediaDevices === undefined) throw microphoneError('insecure_page');
  const wish = {
    channelCount: 1,
    echoCancellation: voiceProcessing,
    noiseSuppression: voiceProcessing,
    autoGainControl: voiceProcessing,
  };
  const device = deviceId === undefined ? {} : { deviceId: { exact: deviceId } };
  return mediaDevices.getUserMedia({ audio: { ...wish, ...device } }).catch((cause: unknown) => {
    const name = cause instanceof DOMException ? cause.name : '';
    throw microphoneError(REFUSALS[name] ?? 'microphone_failed', cause);
  });
}

async function capture(media: MediaStream, options: MicrophoneOptions): Promise<Microphone> {
  const { context, source } = openContext(media);
  try {
    await start(context);
    await addWorklet(context, options.workletUrl);
  } catch (error) {
    await context.close();
    throw error;
  }
  const node = new AudioWorkletNode(context, 'svc-microphone', { numberOfOutputs: 0 });
  const feed = new Feed(options, context.sampleRate);
  const onBlock = ({ data }: MessageEvent<Float32Array>): void => feed.onBlock(data);
  node.port.addEventListener('message', onBlock);
  node.port.start();
  source.connect(node);
  const [track] = media.getTracks();
  track?.addEventListener('ended', () => options.onLost?.());
  return {
    get muted() {
      return feed.muted;
    },
    set muted(muted) {
      feed.muted = muted;
    },
    get sentMs() {
      return feed.sentMs;
    },
    get skippedMs() {
      return feed.skippedMs;
    },
    async stop() {
      node.port.removeEventListener('message', onBlock);
      source.disconnect();
      for (const each of media.getTracks()) each.stop();
      if (context.state !== 'closed') await context.close();
      feed.end();
    },
  };
}

/** Some browsers cannot connect a microphone to a context of another rate: then we resample ourselves. */
function openContext(media: MediaStream) {
  const context = new AudioContext({ sampleRate: AUDIO.sampleRateHz });
  try {
    return { context, source: context.createMediaStreamSource(media) };
  } catch {
    void context.close();
    const native = new AudioContext();
    return { context: native, source: native.createMediaStreamSource(media) };
  }
}

/** Browsers wait for a click, and some for a sound card, without a word: we wait for so long and then say so. */
const START_MAX_MS = 5_000;

async function start(context: AudioContext): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(microphoneError('audio_not_started')), START_MAX_MS);
  });
  try {
    await Promise.race([context.resume(), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function addWorklet(context: AudioContext, url: string | undefined): Promise<void> {
  if (url !== undefined) return context.audioWorklet.addModule(url);
  const blob = URL.createObjectURL(new Blob([MICROPHONE_WORKLET], { type: 'text/javascript' }));
  try {
    await context.audioWorklet.addModule(blob);
  } finally {
    URL.revokeObjectURL(blob);
  }
}

/** From a block of samples to the sink: rate, mute, level, gate. */
class Feed {
  muted = false;
  sentMs = 0;
  skippedMs = 0;
  readonly #options: MicrophoneOptions;
  readonly #resampler: Resampler | null;
  readonly #gate: VoiceGate | null;

  constructor(options: MicrophoneOptions, sampleRateHz: number) {
    this.#options = options;
    this.#resampler = sampleRateHz === AUDIO.sampleRateHz ? null : new Resampler(sampleRateHz);
    const { gate = false } = options;
    this.#gate = gate === false ? null : new VoiceGate(gate === true ? {} : gate);
  }

  onBlock(block: Float32Array): void {
    const samples = toPcm16(this.#resampler?.push(block) ?? block);
    this.#options.onLevel?.(this.muted ? -100 : levelDb(samples));
    if (this.muted) this.#skip(msOf(samples));
    else if (this.#gate === null) this.#send(samples);
    else this.#follow(this.#gate.push(samples));
  }

  end(): void {
    if (!this.muted && this.#gate !== null) this.#follow(this.#gate.end());
  }

  #follow(output: ReturnType<VoiceGate['push']>): void {
    for (const step of output) {
      if (step.do === 'send') this.#send(step.samples);
      else this.#skip(step.ms);
    }
  }

  #send(samples: Int16Array): void {
    this.sentMs += msOf(samples);
    // The stream tells its own end; a microphone cannot slow down anyway.
    this.#options.sink.write(samples).catch(() => {});
  }

  #skip(ms: number): void {
    this.skippedMs += ms;
    this.#options.sink.skip(ms);
  }
}

function msOf(samples: Int16Array): number {
  return (samples.length * 1000) / AUDIO.sampleRateHz;
}

const REFUSALS: Readonly<Record<string, keyof typeof MICROPHONE_ERRORS>> = {
  NotAllowedError: 'microphone_denied',
  NotFoundError: 'microphone_missing',
  OverconstrainedError: 'microphone_missing',
  NotReadableError: 'microphone_busy',
};

const MICROPHONE_ERRORS = {
  insecure_page: 'Browsers give the microphone only to pages served over https or from localhost.',
  microphone_denied: 'The microphone was not allowed. Allow it in the browser and try again.',
  microphone_missing: 'There is no such microphone. Connect one and try again.',
  microphone_busy: 'The microphone is used by another program. Close that and try again.',
  audio_not_started:
    'The browser did not start its audio. Ask for the microphone in answer to a click, check that the device has a ' +
    'sound output, and try again.',
  microphone_failed: 'The microphone could not be opened.',
} as const;

function microphoneError(code: keyof typeof MICROPHONE_ERRORS, cause?: unknown): SvcError {
  return new SvcError({ code, message: MICROPHONE_ERRORS[code], retryable: false, cause });
}
