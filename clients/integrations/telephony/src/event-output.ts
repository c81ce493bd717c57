import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { CallEvent, Notice } from './events.ts';
import type { BridgeMetrics } from './metrics.ts';

/** A reader that is this far behind loses events instead of the bridge losing its memory. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** Writes one JSON object per line to a file, or to the standard output. */
export class EventOutput {
  readonly #stream: Writable;
  readonly #isFile: boolean;
  readonly #lost: (message: string) => void;
  #isBroken = false;

  /** `-` is the standard output. A file is created for its owner only, because it holds transcripts. */
  constructor(
    path: string,
    { metrics, onNotice }: { metrics: BridgeMetrics; onNotice: (notice: Notice) => void },
  ) {
    this.#isFile = path !== '-';
    this.#stream = this.#isFile
      ? createWriteStream(path, { flags: 'a', mode: 0o600 })
      : process.stdout;
    this.#lost = (message) => {
      metrics.count('svc_telephony_events_dropped_total', { sink: 'output' });
      onNotice({ level: 'error', code: 'output_failed', message });
    };
    // Without a listener a full disk or a reader that left would end every call.
    this.#stream.on('error', () => (this.#isBroken = true));
  }

  write(event: CallEvent): void {
    if (this.#isBroken) return this.#lost('The output for events failed. Restart the bridge.');
    if (this.#stream.writableLength > UNREAD_BYTES_MAX) {
      return this.#lost('Nobody reads the output for events.');
    }
    this.#stream.write(`${JSON.stringify(event)}\n`);
  }

  async close(): Promise<void> {
    if (!this.#isFile || this.#isBroken) return;
    this.#stream.end();
    await once(this.#stream, 'close').catch(() => undefined);
  }
}
