import { createTransport } from 'nodemailer';
import { isLocalUrl } from '../../platform/network/require-tls.ts';
import type { Email } from './texts.ts';

/** Delivers email to a mail server, or keeps it for a developer to read. */
export interface Mailer {
  send(email: Email): Promise<void>;
  close(): void;
  /** The most recent emails, newest first. Only in development. */
  readonly emails?: readonly Email[];
}

const TIMEOUT_MS = 10_000;

/** `url` is for example smtps://user:password@mail.example.com. Uses at most two connections. */
export function createSmtpMailer(options: { url: string; from: string }): Mailer {
  const transport = createTransport({
    url: options.url,
    // STARTTLS is required beyond this machine, because emails contain sign-in codes.
    requireTLS: !isLocalUrl(options.url),
    pool: true,
    maxConnections: 2,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  return {
    async send(email) {
      // Asks mail programs not to send automatic replies.
      const headers = { 'Auto-Submitted': 'auto-generated' };
      await transport.sendMail({ from: options.from, ...email, headers }).catch(hideAddresses);
    },
    close: () => transport.close(),
  };
}

/** A mail server's own message repeats the address, and errors reach the log. */
function hideAddresses(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  throw new Error(`The mail server did not accept an email (${code}).`);
}

const KEPT = 20;

/** For development: keeps the most recent emails in memory for the console's mailbox page. */
export function createDevMailbox(onEmail: (email: Email) => void): Mailer {
  const emails: Email[] = [];
  return {
    emails,
    async send(email) {
      emails.unshift(email);
      emails.length = Math.min(emails.length, KEPT);
      onEmail(email);
    },
    close: () => {},
  };
}
