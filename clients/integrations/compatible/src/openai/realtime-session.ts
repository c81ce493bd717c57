import { randomBytes } from 'node:crypto';
import type { SvcStream } from '@svc-asr/sdk/stream';
import type { Choice } from '../languages.ts';
import { toRefusal, type Refusal } from '../refusal.ts';
import {
  closeCode,
  errorEvent,
  itemEvents,
  refusalEvent,
  type ItemEvent,
  type RealtimeError,
  type Shape,
} from './realtime-events.ts';
import { ignoredSettings } from './realtime-ignored.ts';
import { RealtimeItems } from './realtime-items.ts';
import { parseMessage, type RealtimeMessage } from './realtime-messages.ts';
import {
  FIRST_SETTINGS,
  presentSession,
  updateSettings,
  type RealtimeSettings,
} from './realtime-settings.ts';
import { RealtimeSpeech } from './realtime-speech.ts';

export interface RealtimePort {
  send(message: object): void;
  close(code: number, reason: string): void;
  /** Throws a refusal if the settings name no language of the service, or two. */
  choose(settings: RealtimeSettings): Choice;
  /** Opens a stream that ends with the connection. Throws the service's refusal. */
  openStream(choice: Choice, settings: RealtimeSettings): Promise<SvcStream>;
  /** A stream has ended, after this much audio from the client. */
  onStreamEnded(stream: SvcStream, receivedMs: number): void;
}

/** Every commit waits for its final. */
const COMMITS_MAX = 32;
/** Refused messages before the connection is closed. */
const REFUSED_MAX = 10;
const IGNORED_MAX = 100;

/** One connection of OpenAI's Realtime API: messages in, events out. */
export class RealtimeSession {
  readonly #port: RealtimePort;
  readonly #id = randomBytes(9).toString('base64url');
  readonly #items = new RealtimeItems({
    newId: () => `item_${this.#id}${String((this.#itemNumber += 1)).padStart(6, '0')}`,
    hasTurnEvents: () => this.#settings.silenceMs !== null,
  });
  #settings: RealtimeSettings;
  #shape: Shape;
  #choice: Choice | null = null;
  #speech: RealtimeSpeech | null = null;
  #eventNumber = 0;
  #itemNumber = 0;
  #refused = 0;
  /** Settings without effect that the client has been told of. */
  readonly #ignored = new Set<string>();
  #isOver = false;

  constructor(port: RealtimePort, input: { readonly model: string | null; readonly shape: Shape }) {
    this.#port = port;
    this.#shape = input.shape;
    this.#settings = { ...FIRST_SETTINGS, model: input.model };
  }

  /** Some clients wait for it before they say anything. */
  start(): void {
    this.#tellSession('created');
  }

  /** Handles one message. Call it again only after it has resolved. */
  async onText(frame: string): Promise<void> {
    if (this.#isOver) return;
    const message = parseMessage(frame);
    try {
      await this.#handle(message);
    } catch (error) {
      this.#end(toRefusal(error));
    }
  }

  /** The client has gone. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#speech?.close();
  }

  async #handle(message: RealtimeMessage): Promise<void> {
    switch (message.do) {
      case 'update':
        return this.#update(message);
      case 'append':
        this.#speech ??= await this.#openSpeech();
        return this.#speech.push(message.audio);
      case 'commit':
        return this.#commit();
      case 'clear':
        this.#speech?.clear();
        this.#items.clear();
        return this.#send({ type: 'input_audio_buffer.cleared' });
      case 'refuse':
        return this.#refuse(message.error);
    }
  }

  async #update({ session, shape, eventId }: RealtimeMessage & { do: 'update' }): Promise<void> {
    const settings = updateSettings(this.#settings, session, shape);
    if ('message' in settings) return this.#refuse({ ...settings, eventId });
    // Clients may name the language in a later update. Without any the first audio is refused.
    const isNamed = settings.model !== null || settings.languages.length > 0;
    const choice = isNamed ? this.#port.choose(settings) : null;
    if (isOther(this.#settings, settings) || choice?.model !== this.#choice?.model) {
      await this.#speech?.finish();
      this.#speech = null;
    }
    this.#settings = settings;
    this.#shape = shape;
    this.#choice = choice;
    const ignored = ignoredSettings(session, shape).filter((name) => !this.#ignored.has(name));
    if (this.#ignored.size < IGNORED_MAX) for (const name of ignored) this.#ignored.add(name);
    this.#tellSession('updated', ignored);
  }

  #commit(): void {
    if (this.#items.commitsPending >= COMMITS_MAX) {
      const message = `${COMMITS_MAX} commits wait for their transcript. Wait for completed events.`;
      return this.#refuse({ type: 'invalid_request_error', code: 'too_many_commits', message });
    }
    this.#tell(this.#items.commit());
    if (this.#speech !== null) return this.#speech.commit();
    // Nothing was said. An error would end the sessions of LiveKit and Pipecat.
    this.#tell(this.#items.final({ text: '', startMs: 0, endMs: 0, commits: 1, endsTurn: true }));
  }

  async #openSpeech(): Promise<RealtimeSpeech> {
    this.#choice ??= this.#port.choose(this.#settings);
    const items = this.#items;
    const stream = await this.#port.openStream(this.#choice, this.#settings);
    const speech = new RealtimeSpeech(stream, this.#settings, {
      onDelta: (text) => this.#tell(items.delta(text)),
      onFinal: (final) => this.#tell(items.final(final)),
      onSpeechStarted: (audioMs) => this.#tell(items.speechStarted(audioMs)),
      onSpeechEnded: (audioMs) => this.#tell(items.speechEnded(audioMs)),
      onFailure: (error) => this.#end(toRefusal(error)),
    });
    void stream.closed.then(() => this.#port.onStreamEnded(stream, speech.receivedMs));
    return speech;
  }

  /** The connection closes after this. */
  onTooLarge(): void {
    const message = 'A message is larger than 1 MiB. Send the audio in smaller pieces.';
    this.#send(errorEvent({ type: 'invalid_request_error', code: 'message_too_large', message }));
  }

  /** The client may go on, as with OpenAI, but not forever. */
  #refuse(error: RealtimeError): void {
    this.#send(errorEvent(error));
    this.#refused += 1;
    if (this.#refused > REFUSED_MAX) this.#over(1008, 'too_many_errors');
  }

  /** Clients show the text of an error event. They ignore that of a close frame. */
  #end(refusal: Refusal): void {
    if (this.#isOver) return;
    this.#tell(this.#items.fail(refusal));
    this.#send(refusalEvent(refusal));
    this.#over(closeCode(refusal), refusal.code);
  }

  #over(code: number, reason: string): void {
    this.#isOver = true;
    this.#port.close(code, reason);
    void this.#speech?.close();
  }

  #tell(events: readonly ItemEvent[]): void {
    const language = this.#choice?.language ?? null;
    for (const event of events) {
      for (const body of itemEvents(event, { shape: this.#shape, language })) this.#send(body);
    }
  }

  #tellSession(what: 'created' | 'updated', ignored: readonly string[] = []): void {
    const kind = this.#shape === 'ga' ? 'session' : 'transcription_session';
    const session = presentSession(this.#settings, { id: `sess_${this.#id}`, shape: this.#shape });
    const named = ignored.length === 0 ? {} : { svc_ignored_parameters: ignored };
    this.#send({ type: `${kind}.${what}`, session: { ...session, ...named } });
  }

  #send(body: object): void {
    if (this.#isOver) return;
    this.#eventNumber += 1;
    this.#port.send({ event_id: `event_${this.#id}${this.#eventNumber}`, ...body });
  }
}

/** Whether audio after the update needs a stream of its own. */
function isOther(before: RealtimeSettings, after: RealtimeSettings): boolean {
  return (
    before.encoding !== after.encoding ||
    before.sampleRateHz !== after.sampleRateHz ||
    before.silenceMs !== after.silenceMs
  );
}
