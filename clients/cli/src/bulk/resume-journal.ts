import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ModelId } from '@svc-asr/sdk';
import type { FinalEvent } from '@svc-asr/sdk/stream';
import { UsageError } from '../command.ts';
import { FileTranscript, type SessionCharge } from '../file-transcript.ts';

/** The audio and the model that a journal belongs to. */
interface Subject {
  readonly sha256: string;
  readonly model: ModelId;
}

type Entry =
  | { readonly subject: Subject }
  | { readonly final: FinalEvent; readonly charge: SessionCharge }
  /** Ends a run. Its exact charges replace those of the finals. */
  | { readonly sessions: readonly SessionCharge[] };

/**
 * The finals of an unfinished file, one JSON line each, written as they arrive. The next run continues after the last
 * one, so no audio is charged twice. A journal only grows, until the transcript is complete.
 */
export class ResumeJournal {
  readonly earlier: FileTranscript | null;
  readonly #path: string;
  /** Entries to write before the next one: all of a new journal, none of an intact one. */
  #pending: readonly Entry[] | null;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, earlier: FileTranscript | null, pending: readonly Entry[]) {
    this.#path = path;
    this.earlier = earlier;
    this.#pending = pending;
  }

  /** Reads the journal of a file, if it has one. Throws if that belongs to other audio or another model. */
  static async open(input: {
    path: string;
    source: string;
    model: ModelId;
    /** Replace a journal of other audio or another model instead of refusing it. */
    force: boolean;
  }): Promise<ResumeJournal> {
    const { path, source, model, force } = input;
    const subject: Subject = { sha256: await digest(source), model };
    const entries = await readEntries(path, force);
    const [head] = entries;
    if (head === undefined) return new ResumeJournal(path, null, [{ subject }]);
    const known = 'subject' in head ? head.subject : null;
    if (known?.sha256 !== subject.sha256 || known.model !== subject.model) {
      if (force) return new ResumeJournal(path, null, [{ subject }]);
      const other = known?.sha256 === subject.sha256 ? 'another language' : 'another audio file';
      throw new UsageError(
        `${path} has paid text of ${other}. Move it away to keep it, or add --force to start over.`,
      );
    }
    // Written again, because a crash may have cut the last line.
    return new ResumeJournal(path, toTranscript(entries), entries);
  }

  /** Saves a final. Rejects if it can't be written, so that no further audio is paid for. */
  add(final: FinalEvent, charge: SessionCharge): Promise<void> {
    return this.#write({ final, charge });
  }

  /** Ends a run that did not finish the file. */
  async endRun(sessions: readonly SessionCharge[]): Promise<void> {
    if (sessions.length > 0) await this.#write({ sessions });
  }

  /** The transcript is complete and written. */
  async remove(): Promise<void> {
    await this.#written.catch(() => undefined);
    await rm(this.#path, { force: true });
  }

  #write(entry: Entry): Promise<void> {
    const pending = this.#pending;
    this.#pending = null;
    this.#written = this.#append(this.#written, pending, entry);
    return this.#written;
  }

  async #append(
    before: Promise<void>,
    pending: readonly Entry[] | null,
    entry: Entry,
  ): Promise<void> {
    await before;
    if (pending !== null) await replaceFile(this.#path, pending);
    await appendFile(this.#path, toLine(entry));
  }
}

async function digest(source: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(source), hash);
  return hash.digest('hex');
}

async function replaceFile(path: string, entries: readonly Entry[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, entries.map(toLine).join(''));
  await rename(`${path}.new`, path);
}

function toLine(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Reads whole lines only. */
async function readEntries(path: string, force: boolean): Promise<Entry[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n').slice(0, -1);
  try {
    return lines.map((line): Entry => JSON.parse(line));
  } catch {
    if (force) return [];
    throw new UsageError(`${path} is damaged. Move it away, or add --force to start over.`);
  }
}

function toTranscript(entries: readonly Entry[]): FileTranscript | null {
  const finals: FinalEvent[] = [];
  const settled: SessionCharge[] = [];
  let open = new Map<string, number>();
  for (const entry of entries) {
    if ('final' in entry) {
      finals.push(entry.final);
      const { sessionId, chargedMs } = entry.charge;
      open.set(sessionId, (open.get(sessionId) ?? 0) + chargedMs);
    } else if ('sessions' in entry) {
      settled.push(...entry.sessions);
      open = new Map();
    }
  }
  const last = finals.at(-1);
  if (last === undefined) return null;
  const killed = [...open].map(([sessionId, chargedMs]) => ({ sessionId, chargedMs }));
  return new FileTranscript({ finals, audioMs: last.end_ms, sessions: [...settled, ...killed] });
}
