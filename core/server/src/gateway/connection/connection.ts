import type { Socket } from 'node:net';
import {
  VoiceActivity,
  type Engine,
  type EngineEvent,
  type EngineStream,
  type SpeechDetector,
  type VoiceConfirmer,
} from '@svc-asr/engine/core.ts';
import { AUDIO, LIMITS, type ServerEvent, type StreamErrorCode } from '@svc-asr/protocol';
import type { LostSession } from '@svc-asr/protocol/lost-host.ts';
import type { CloseInput } from '../../ledger/ledger.ts';
import type { Clock } from '../../platform/clock.ts';
import { sleep } from '../../platform/sleep.ts';
import { AudioCheck } from '../audio-check/audio-check.ts';
import { AudioWindow } from './audio-window.ts';
import { ClientLiveness, type LivenessLimits } from './client-liveness.ts';
import { EngineLink } from './engine-link.ts';
import { Intake } from './intake.ts';
import { encodeEvent, isText, parseTextMessage, type TextMessage } from '../rules/pcm-frames.ts';
import { audioMs, billableMs } from '../rules/metering.ts';
import { onControl, onMessage } from '../rules/stream-messages.ts';
import type { StreamMetrics } from '../record/stream-metrics.ts';
import type { StreamTrace } from '../record/stream-trace.ts';
import { violation, type StreamSocket } from './stream-socket.ts';
import type { StreamDetails } from '../record/stream-record.ts';
import { StreamTimings } from '../record/stream-timings.ts';
import { endWith } from '../rules/finishing.ts';
import { AudioDigests, ReplayedAudio, type LostAudio } from '../rules/lost-audio.ts';
import {
  startStream,
  type Action,
  type Ending,
  type StreamLimits,
  type StreamSession,
  type StreamState,
  type Step,
} from '../rules/stream-state.ts';
import { onPeeked } from '../rules/endpointing.ts';
import {
  onAudio,
  onClientClose,
  onConnectionLost,
  onDrain,
  onDrainDeadline,
  onEngineEvent,
  onReady,
  onReclaim,
  onReplayed,
  onTick,
  onWaiting,
} from '../rules/stream.ts';

export interface ConnectionLimits extends StreamLimits, LivenessLimits {
  /** How much unread output a client may have. */
  readonly unreadBytes: number;
  /** On a nearly full node, streams with hardly any audio in this time may be reclaimed. */
  readonly reclaimIdleMs: number;
}

export interface ConnectionInput {
  readonly socket: StreamSocket;
  /** The underlying connection. */
  readonly wire: Socket;
  readonly session: StreamSession;
  readonly accountId: string;
  /** The end of the session's credential. */
  readonly proof: string;
  readonly engine: Engine;
  /** Null: there is no second detector of speech. */
  readonly confirmer: VoiceConfirmer | null;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly metrics: StreamMetrics;
  /** Null: traces are off. */
  readonly trace: StreamTrace | null;
  /** Resolves when the ledger has confirmed it. */
  readonly settle: (
    outcome: Pick<CloseInput, 'status' | 'samples' | 'replayed' | 'lost' | 'isTold'>,
  ) => Promise<void>;
  /** Resolves with the audio that the lost sessions were charged for. */
  readonly findLost: (lost: readonly LostSession[]) => Promise<readonly LostAudio[]>;
  /** Called with the cause before an engine failure ends the stream. */
  readonly onFault: (fault: { readonly reason: string; readonly err?: unknown }) => void;
  readonly onEnd: (connection: Connection, ending: Ending, details: StreamDetails) => void;
}

/** The close frame is sent after at most this long. The settlement continues in the background. */
const SETTLE_BEFORE_CLOSE_MS = 1_000;
/** How long a stream that continues another waits for the end of the other one before it is settled. */
const LOST_BEFORE_CLOSE_MS = 5_000;

/** A lost session that is over is found at once. One that is still open takes seconds, and audio doesn't wait for it. */
const HOLD_REPLAY_MS = 500;

/** Connects a socket, the protocol rules and an engine stream. Decides only when to read and when to stop. */
export class Connection {
  readonly #input: ConnectionInput;
  #state: StreamState;
  readonly #engine: EngineLink;
  readonly #intake: Intake;
  #audio: AudioWindow | null = null;
  readonly #check = new AudioCheck();
  /** Finds the turns while endpointing is on. */
  #detector: SpeechDetector | null = null;
  readonly #timings: StreamTimings;
  readonly #liveness: ClientLiveness;
  /** When the audio arrived that is recognised now. It may have waited for the second detector. */
  #audioAtMs = 0;
  /** An offence ends the stream: nothing more is read while the last finals are awaited. */
  #ignoresClient = false;
  #isActing = false;
  #endAfterActions: StreamErrorCode | null = null;
  #isOver = false;
  #lateFrames = 0;
  readonly #digests: AudioDigests;
  /** Null: the stream continues no other one. */
  #replayed: ReplayedAudio | null = null;
  #continuing: Promise<void> | null = null;
  #isLost = false;

  constructor(input: ConnectionInput) {
    const nowMs = input.clock.monotonicMs();
    this.#input = input;
    const { socket, wire, limits, metrics, trace, engine, session } = input;
    this.#liveness = new ClientLiveness({ socket, wire, limits, nowMs });
    this.#digests = new AudioDigests(session.sessionId);
    this.#timings = new StreamTimings({ metrics, trace, openedAtMs: nowMs });
    this.#state = startStream({ session, nowMs, limits });
    this.#intake = new Intake({
      confirmer: input.confirmer,
      owner: input.accountId,
      onAudio: (frame, atMs, voice) => {
        if (this.#isOver || this.#ignoresClient) return;
        this.#audioAtMs = atMs;
        const detector = this.#detector;
        this.#take(onAudio(this.#state, { frame, nowMs: this.#now(), detector, voice }));
      },
      onPause: () => socket.pause(),
      onResume: () => this.#resume(),
    });
    this.#engine = new EngineLink({
      engine,
      open: trace === null ? { model: session.model } : { model: session.model, trace: trace.span },
      onOpen: (stream) => this.#onEngineOpen(stream),
      onBusy: () => this.#take(onWaiting(this.#state, 'queued')),
      onRefused: (err) => {
        input.onFault({ reason: 'engine_refused', err });
        this.end('internal_error');
      },
      onEvent: (event) => this.#onEngineEvent(event),
      onPause: () => socket.pause(),
      onResume: () => this.#resume(),
      onOverflow: () => this.end('too_many_errors'),
    });
  }

  get accountId(): string {
    return this.#input.accountId;
  }

  /** The end of the session's credential, which proves that a returning client opened this session. */
  get proof(): string {
    return this.#input.proof;
  }

  get sessionId(): string {
    return this.#input.session.sessionId;
  }

  get trace(): StreamTrace | null {
    return this.#input.trace;
  }

  get isReady(): boolean {
    return this.#engine.stream !== null;
  }

  get acceptedSamples(): number {
    return this.#state.meter.acceptedSamples;
  }

  /** Fields for the log: numbers and ids, never text. */
  summary(): Readonly<Record<string, string | number>> {
    const { session, accountId } = this.#input;
    const { sessionId, requestId, model } = session;
    const lastedMs = Math.round(this.#now() - this.#state.openedAtMs);
    const samples = this.#state.meter.acceptedSamples;
    return { sessionId, requestId, accountId, model, lastedMs, audioMs: audioMs(samples) };
  }

  start(): void {
    const { socket, engine } = this.#input;
    socket.on('message', (data, isBinary) => this.#onFrame(data, isBinary));
    for (const control of ['ping', 'pong'] as const) {
      socket.on(control, () => this.#onControlFrame());
    }
    socket.on('error', (error) => this.#onSocketError(error));
    socket.on('client-close', (isText: boolean) => {
      if (!isText) return this.end('invalid_utf8');
      this.#intake.other(() => this.#take(onClientClose(this.#state, this.#now())));
    });
    socket.on('close', () => this.#lose());
    if (!engine.health().ready) this.#take(onWaiting(this.#state, 'loading'));
    this.#engine.open();
  }

  /** Called a few times a second for every connection, so that no connection needs its own timer. */
  tick(nowMs: number): void {
    if (this.#isOver) return;
    const reading = this.#isReading();
    this.#take(onTick(this.#state, { nowMs, reading }));
    if (this.#isOver) return;
    this.#engine.open();
    const liveness = this.#liveness.check(nowMs, reading);
    if (liveness === 'slow_reader') this.end('slow_reader');
    if (liveness === 'lost') this.giveUp();
  }

  /** The client is gone, or is back and wants another session. */
  giveUp(): void {
    this.#lose();
    this.#input.socket.terminate();
  }

  /** Audio of the last seconds as a share of real time. 1 while the stream starts, ends or waits for the engine. */
  get audioShare(): number {
    const isWaiting = this.#state.phase !== 'streaming' || this.#engine.isBehind;
    return isWaiting ? 1 : (this.#audio?.share(this.#now()) ?? 1);
  }

  /** Ends an idle stream, because its node is full. */
  reclaim(): void {
    this.#intake.release();
    this.#take(onReclaim(this.#state, this.#now()));
  }

  drain(deadlineMs: number): void {
    this.#take(onDrain(this.#state, deadlineMs));
  }

  drainDeadline(): void {
    this.#intake.release();
    this.#take(onDrainDeadline(this.#state, this.#now()));
  }

  /** Ends the stream with an error, after the actions under way: their audio must reach the engine before the last flush. */
  end(code: StreamErrorCode): void {
    if (this.#isActing) {
      this.#endAfterActions = code;
      return;
    }
    this.#intake.release();
    this.#take(endWith(this.#state, { code, nowMs: this.#now() }));
  }

  #isReading(): boolean {
    return !this.#engine.isBehind && !this.#intake.isPaused;
  }

  #resume(): void {
    if (!this.#ignoresClient && this.#isReading()) this.#input.socket.resume();
  }

  /** The connection is gone. What arrived before still counts. */
  #lose(): void {
    this.#intake.release();
    this.#isLost = true;
    this.#take(onConnectionLost(this.#state));
  }

  #onControlFrame(): void {
    if (this.#isOver) return this.#onLateFrame();
    this.#intake.other(() => {
      if (!this.#isOver && !this.#ignoresClient) this.#take(onControl(this.#state, this.#now()));
    });
  }

  #onFrame(data: unknown, isBinary: boolean): void {
    if (!Buffer.isBuffer(data)) throw new TypeError('The socket must deliver buffers.');
    if (this.#isOver) {
      // Audio that a fast client sent before it saw the close is no flood.
      if (!isBinary || data.byteLength < LIMITS.tinyFrameBytes) this.#onLateFrame();
      return;
    }
    if (this.#ignoresClient) return;
    if (isBinary) {
      if (data.byteLength > LIMITS.frameBytes) this.end('message_too_large');
      else this.#intake.audio(data, this.#now());
      return;
    }
    if (data.byteLength > LIMITS.textMessageBytes) return this.end('message_too_large');
    if (!isText(data)) return this.end('invalid_utf8');
    const message = parseTextMessage(data);
    this.#intake.other(() => this.#onText(message));
  }

  #onText(message: TextMessage): void {
    if (this.#isOver || this.#ignoresClient) return;
    const nowMs = this.#now();
    this.#take(onControl(this.#state, nowMs));
    if (this.#isOver || this.#ignoresClient) return;
    this.#take(onMessage(this.#state, { message, nowMs }));
    this.#detectTurns();
  }

  /** Starts or stops the detectors, as the client configured endpointing. A running one keeps its noise floor. */
  #detectTurns(): void {
    const { turns, meter } = this.#state;
    this.#intake.listen(turns?.isConfirming === true, meter.acceptedSamples, meter.carriedByte);
    if (turns === null) this.#detector = null;
    else this.#detector ??= this.#createDetector(turns.originSample);
  }

  #createDetector(originSample: number): SpeechDetector {
    return this.#engine.stream?.createDetector?.(originSample) ?? new VoiceActivity();
  }

  /** The close frame is out, and only the client's own is expected. A flood that continues gets no more turns. */
  #onLateFrame(): void {
    const { socket } = this.#input;
    if (socket.readyState === socket.OPEN) return;
    this.#lateFrames += 1;
    if (this.#lateFrames > LIMITS.textMessagesBurst) socket.terminate();
  }

  #onSocketError(error: Error): void {
    const code = violation(error);
    if (code === null) this.#lose();
    else this.end(code);
  }

  #take(step: Step): void {
    this.#state = step[0];
    this.#isActing = true;
    for (const action of step[1]) this.#act(action);
    this.#isActing = false;
    const code = this.#endAfterActions;
    this.#endAfterActions = null;
    if (code !== null) this.end(code);
  }

  #act(action: Action): void {
    switch (action.do) {
      case 'feed':
        if (!this.#check.isOver) this.#checkAudio(action.pcm);
        this.#recogniseReplay(action.pcm);
        this.#measureAudio(action.pcm.byteLength / AUDIO.bytesPerSample);
        return this.#engine.feed?.write(action.pcm);
      case 'send':
        return this.#send(action.event);
      case 'flush':
        this.#timings.onFlush(this.#now());
        this.#digests.cut();
        return this.#engine.feed?.flush();
      case 'reset':
        this.#timings.onReset();
        this.#digests.drop();
        return this.#engine.feed?.reset();
      case 'peek':
        return void this.#peek(action.number);
      case 'expect':
        return this.#engine.feed?.expect(action.keyterms);
      case 'continue':
        this.#continuing = this.#continue(action.lost);
        return;
      case 'stop_reading':
        this.#ignoresClient = true;
        return this.#input.socket.pause();
      case 'close':
        void this.#close(action.ending, action.samples);
    }
  }

  async #peek(number: number): Promise<void> {
    const peeked = await this.#engine.feed?.peek();
    if (peeked !== null && peeked !== undefined && !this.#isOver) {
      this.#take(onPeeked(this.#state, { ...peeked, number }));
    }
  }

  /** Never rejects: without an answer the audio is charged like any other. */
  async #continue(lost: readonly LostSession[]): Promise<void> {
    const replayed = new ReplayedAudio();
    this.#replayed = replayed;
    const found = this.#input.findLost(lost);
    // The first final should count what was charged before.
    this.#intake.hold(Promise.race([found, sleep(HOLD_REPLAY_MS)]));
    replayed.know(await found);
    if (!this.#isOver) this.#countReplay();
  }

  #recogniseReplay(pcm: Uint8Array): void {
    this.#digests.add(pcm);
    this.#replayed?.add(pcm);
    this.#countReplay();
  }

  #countReplay(): void {
    const samples = this.#replayed?.replayed?.samples ?? 0;
    if (samples > this.#state.meter.replayedSamples)
      this.#state = onReplayed(this.#state, samples)[0];
  }

  #measureAudio(samples: number): void {
    this.#timings.onAudio(samples, this.#audioAtMs);
    this.#audio?.onAudio((samples * 1000) / AUDIO.sampleRateHz, this.#audioAtMs);
  }

  #checkAudio(pcm: Uint8Array): void {
    const warning = this.#check.examine(pcm);
    if (warning !== null) this.#send(warning);
  }

  #send(event: ServerEvent): void {
    const { socket, limits } = this.#input;
    this.#timings.onSend(event, this.#now());
    if (socket.readyState !== socket.OPEN) return;
    socket.send(encodeEvent(event));
    if (socket.bufferedAmount > limits.unreadBytes && !this.#isOver) this.end('slow_reader');
  }

  #onEngineOpen(stream: EngineStream): void {
    const { engine, session, limits } = this.#input;
    const nowMs = this.#now();
    this.#audio = new AudioWindow(limits.reclaimIdleMs, nowMs);
    const { chunkSamples } = stream;
    const { keyterms: takesKeyterms, canPeek = false } = engine.describe(session.model);
    // A script decides by itself who speaks.
    const canConfirm = this.#intake.canConfirm && stream.createDetector === undefined;
    const facts = { takesKeyterms, canConfirm, canPeek };
    this.#take(onReady(this.#state, { chunkSamples, nowMs, ...facts }));
    this.#detectTurns();
  }

  #onEngineEvent(event: EngineEvent): void {
    if (event.type === 'error' && !this.#isOver) this.#input.onFault({ reason: event.reason });
    const nowMs = this.#now();
    this.#timings.onEngineEvent(event, nowMs);
    this.#take(onEngineEvent(this.#state, { event, nowMs }));
  }

  /** Settles before the close frame, so that a client can create its next session as soon as it sees the close. */
  async #close(ending: Ending, samples: number): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#intake.close();
    const { socket, settle, metrics, onEnd } = this.#input;
    // Nothing more is accepted, so a client that keeps sending waits in its own buffers.
    socket.pause();
    if (this.#continuing !== null) {
      // A lost session that ends after this one would be charged too.
      await Promise.race([this.#continuing, sleep(LOST_BEFORE_CLOSE_MS)]);
      this.#countReplay();
    }
    const { meter } = this.#state;
    const details = this.#timings.onEnd(ending, this.#now());
    if (ending.status === 'completed') metrics.billed(billableMs(meter, samples));
    if (!this.isReady) metrics.neverReady(ending.status);
    metrics.accepted(audioMs(meter.acceptedSamples));
    const beganMs = this.#now();
    const replayed = this.#replayed?.replayed ?? null;
    // A client that has not asked for the end may never learn of it.
    const isKnown = ending.reason === 'completed' && !this.#isLost;
    const lost = isKnown ? null : this.#digests.end(samples);
    const isTold = !this.#isLost;
    const settled = settle({ status: ending.status, samples, replayed, lost, isTold });
    const freed = this.#engine.close();
    await Promise.race([Promise.all([settled, freed]), sleep(SETTLE_BEFORE_CLOSE_MS)]);
    this.trace?.part('ledger.close', this.#now() - beganMs);
    // A paused socket would miss the client's close frame.
    socket.resume();
    socket.finish(ending.closeCode, ending.reason);
    onEnd(this, ending, details);
  }

  #now(): number {
    return this.#input.clock.monotonicMs();
  }
}
