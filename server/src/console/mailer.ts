import { createTransport } from 'nodemailer';
import type { Letter } from './letters.ts';

/** Takes a letter to a mail server, or to a mailbox that a developer can read. */
export interface Mailer {
  send(letter: Letter): Promise<void>;
  close(): void;
  /** The last letters, newest first, where they can be read: in development alone. */
  readonly letters?: readonly Letter[];
}

const TIMEOUT_MS = 10_000;

/** `url` such as smtps://user:password@mail.example.com. At most two connections, none kept waiting for ever. */
export function createSmtpMailer(options: { url: string; from: string }): Mailer {
  const transport = createTransport({
    url: options.url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  return {
    async send(letter) {
      // A message generated for one person: no auto-replies, please.
      const headers = { 'Auto-Submitted': 'auto-generated' };
      await transport.sendMail({ from: options.from, ...letter, headers }).catch(hideAddresses);
    },
    close: () => transport.close(),
  };
}

/** A mail server's own words repeat the address, and errors reach the log. */
function hideAddresses(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  throw new Error(`The mail server did not take a letter (${code}).`);
}

const KEPT = 20;

/** For development: keeps the last letters in memory, for the console's own mailbox page. */
export function createDevMailbox(onLetter: (letter: Letter) => void): Mailer {
  const letters: Letter[] = [];
  return {
    letters,
    async send(letter) {
      letters.unshift(letter);
      letters.length = Math.min(letters.length, KEPT);
      onLetter(letter);
    },
    close: () => {},
  };
}
