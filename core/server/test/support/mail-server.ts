import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

interface ReceivedEmail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailServer {
  readonly url: string;
  readonly emails: readonly ReceivedEmail[];
  /** Waits for the next unread email to this address. */
  take(to: string): Promise<ReceivedEmail>;
  /** Returns the code of the next sign-in email to this address, skipping other emails. */
  takeCode(to: string): Promise<string>;
  stop(): Promise<void>;
}

/** A real SMTP server that stores every email. `refuse` answers every email with an error. */
export async function startMailServer(options: { refuse?: boolean } = {}): Promise<MailServer> {
  const emails: ReceivedEmail[] = [];
  const taken = new Set<ReceivedEmail>();
  const arrivals = new EventTarget();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      const to = session.envelope.rcptTo.map(({ address }) => address).join(', ');
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (options.refuse === true) return done(new Error('mailbox unavailable'));
        emails.push({ to, ...parse(Buffer.concat(chunks).toString()) });
        arrivals.dispatchEvent(new Event('email'));
        return done();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  async function take(to: string): Promise<ReceivedEmail> {
    for (;;) {
      const email = emails.find((known) => known.to === to && !taken.has(known));
      if (email === undefined) {
        await once(arrivals, 'email');
        continue;
      }
      taken.add(email);
      return email;
    }
  }
  return {
    url: `smtp://127.0.0.1:${port}`,
    emails,
    take,
    async takeCode(to) {
      for (;;) {
        const match = /\b(\d{4}) (\d{4})\b/.exec((await take(to)).text);
        if (match !== null) return `${match[1]}${match[2]}`;
      }
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parse(raw: string): { subject: string; text: string } {
  const [head = '', ...body] = raw.split('\r\n\r\n');
  const subject = /^Subject: (.*)$/m.exec(head)?.[1] ?? '';
  const joined = body.join('\r\n\r\n');
  if (!/quoted-printable/i.test(head)) return { subject, text: joined };
  const bytes = joined
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return { subject, text: Buffer.from(bytes, 'latin1').toString('utf8') };
}
