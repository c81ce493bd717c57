import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { toPcm16 } from './audio/pcm.ts';
import { Resampler } from './audio/resampler.ts';
import { microphoneError, toMicrophoneError } from './microphone-errors.ts';
import { MICROPHONE_WORKLET } from './microphone-worklet.ts';
import { levelDb } from './level-detector.ts';
import { VoiceGate, type GateOptions } from './voice-gate.ts';

export { MICROPHONE_WORKLET } from './microphone-worklet.ts';
export type { GateOptions } from './voice-gate.ts';

/** Receives the microphone's audio. `openStream()` returns one. */
export interface AudioSink {
  write(samples: Int16Array): Promise<void>;
  skip(ms: number): void;
  /** Called at each pause that the gate finds, unless the service ends utterances itself. */
  flush?(): Promise<unknown>;
  /** Whether the service ends utterances itself. */
  readonly endpointing?: boolean;
  /** Resolves when the sink takes no more audio, for whatever reason. The microphone then stops. */
  readonly ended?: Promise<void>;
}

export interface MicrophoneOptions {
  readonly sink: AudioSink;
  /** Doesn't send long silences, so they aren't charged. Default: off. */
  readonly gate?: boolean | GateOptions;
  /** Called about ten times a second with the level in dBFS: -100 is silence, 0 is full scale. */
  readonly onLevel?: (db: number) => void;
  /** Called when the microphone is unplugged or its permission is revoked. */
  readonly onLost?: () => void;
  readonly deviceId?: string;
  /**
   * The browser's echo cancellation, noise suppression and automatic gain. They are tuned for human listeners and can
   * make recognition worse. Turn them on if the page plays sound while it listens. Default: off.
   */
  readonly voiceProcessing?: boolean;
  /**
   * For pages whose Content-Security-Policy forbids blob: scripts: the URL where you serve MICROPHONE_WORKLET as
   * JavaScript.
   */
  readonly workletUrl?: string;
}

export interface Microphone {
  /** While muted, no audio is sent or charged, and the transcript's times keep counting. */
  muted: boolean;
  readonly sentMs: number;
  readonly skippedMs: number;
  /** Releases the microphone. It doesn't finish the stream. The end of the stream releases the microphone too. */
  stop(): Promise<void>;
}

/**
 * Opens the microphone and sends it to the sink as 16 kHz PCM, until `stop()` or the end of the sink. Browsers require
 * that a click triggers the call. Rejects with `stream_closed` if the sink ends first.
 */
export async function openMicrophone(options: MicrophoneOptions): Promise<Microphone> {
  let isOver = false;
  const over = options.sink.ended?.then(() => (isOver = true));
  const media = await askForMicrophone(options);
  try {
    if (isOver) throw microphoneError('stream_closed');
    const microphone = await capture(media, options);
    void over?.then(() => microphone.stop());
    if (isOver) throw microphoneError('stream_closed');
    return microphone;
  } catch (error) {
    for (const track of media.getTracks()) track.stop();
    throw error;
  }
}

async function askForMicrophone(options: MicrophoneOptions): Promise<MediaStream> {
  const { deviceId, voiceProcessing = false } = options;
  const { mediaDevices } = navigator;
  // Undefined on insecure pages: plain HTTP on a host other than localhost.
  if (mediaDevices === undefined) throw microphoneError('insecure_page');
  const wish = {
    channelCount: 1,
    echoCancellation: voiceProcessing,
    noiseSuppression: voiceProcessing,
    autoGainControl: voiceProcessing,
  };
  const device = deviceId === undefined ? {} : { deviceId: { exact: deviceId } };
  return mediaDevices.getUserMedia({ audio: { ...wish, ...device } }).catch((cause: unknown) => {
    throw toMicrophoneError(cause);
  });
}

async function capture(media: MediaStream, options: MicrophoneOptions): Promise<Microphone> {
  const { context, source } = openContext(media);
  const node = await openWorklet(context, options.workletUrl).catch(async (error: unknown) => {
    await context.close();
    throw error;
  });
  const feed = new Feed(options, context.sampleRate);
  const onBlock = ({ data }: MessageEvent<Float32Array>): void => feed.onBlock(data);
  node.port.addEventListener('message', onBlock);
  node.port.start();
  source.connect(node);
  const [track] = media.getTracks();
  let isStopped = false;
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
      if (isStopped) return;
      isStopped = true;
      node.port.removeEventListener('message', onBlock);
      source.disconnect();
      for (const each of media.getTracks()) each.stop();
      if (context.state !== 'closed') await context.close();
      feed.end();
    },
  };
}

async function openWorklet(
  context: AudioContext,
  workletUrl: string | undefined,
): Promise<AudioWorkletNode> {
  await start(context);
  await addWorklet(context, workletUrl);
  return new AudioWorkletNode(context, 'svc-microphone', { numberOfOutputs: 0 });
}

/** Some browsers can't connect a microphone to a context with another sample rate. Then we resample. */
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

/** Without a click, and in some browsers without a sound card, resume() stays pending. We time out with an error. */
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

/** Passes blocks of samples to the sink: resamples, mutes, measures the level and applies the gate. */
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
    else this.#pass(this.#gate, samples);
  }

  end(): void {
    if (!this.muted && this.#gate !== null) this.#follow(this.#gate.end());
  }

  #pass(gate: VoiceGate, samples: Int16Array): void {
    const wasOpen = gate.isOpen;
    this.#follow(gate.push(samples));
    if (wasOpen && !gate.isOpen) this.#endUtterance();
  }

  #follow(output: ReturnType<VoiceGate['push']>): void {
    for (const step of output) {
      if (step.do === 'send') this.#send(step.samples);
      else this.#skip(step.ms);
    }
  }

  #send(samples: Int16Array): void {
    this.sentMs += msOf(samples);
    // The stream reports its own errors, and a microphone can't slow down for backpressure.
    this.#options.sink.write(samples).catch(() => {});
  }

  /** While the gate is closed the service receives no silence, so it can't detect the pause itself. */
  #endUtterance(): void {
    const { sink } = this.#options;
    if (sink.endpointing !== true) sink.flush?.().catch(() => {});
  }

  #skip(ms: number): void {
    this.skippedMs += ms;
    this.#options.sink.skip(ms);
  }
}

function msOf(samples: Int16Array): number {
  return (samples.length * 1000) / AUDIO.sampleRateHz;
}
