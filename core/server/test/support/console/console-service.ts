import type {
  CodeRequested,
  InvitationList,
  NewKey,
  Role,
} from '@svc-asr/protocol/console/console.ts';
import {
  approveWaitlist,
  findWaitlistEntry,
  joinWaitlist,
} from '../../../src/accounts/waitlist.ts';
import { REQUESTS } from '../../../src/console/plugin.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startMailServer, type MailServer } from '../mail-server.ts';
import {
  startService,
  type Service,
  type ServiceOptions,
} from '@svc-asr/testing/service/service.ts';

/** The origin that browsers send. */
const PUBLIC_URL = 'https://console.example.org';

export interface ConsoleService extends Service {
  readonly mail: MailServer;
  /** Returns a browser signed in as the owner of a new account. */
  signedIn(email: string): Promise<TestBrowser>;
  /** A browser of a person whom this owner invited and who accepted. */
  joined(owner: TestBrowser, input: { email: string; role: Role }): Promise<TestBrowser>;
  /** Approves a person from the waitlist, as an operator does on the command line. */
  admit(email: string): Promise<string>;
  /** The account that this person is a member of. */
  accountOf(email: string): Promise<string>;
}

/** A complete service with a real mail server. */
export async function startConsoleService(options: ServiceOptions = {}): Promise<ConsoleService> {
  const mail = await startMailServer();
  const service = await startService({
    ...options,
    env: {
      SMTP_URL: mail.url,
      MAIL_FROM: 'svc-asr <console@example.org>',
      PUBLIC_URL,
      RATE_CONSOLE_FORMS: '600000',
      ...options.env,
    },
  });
  async function admit(email: string): Promise<string> {
    const db = service.database.pool;
    await joinWaitlist(db, { email, name: '', purpose: '' });
    const entry = await findWaitlistEntry(db, email);
    const accountId = await approveWaitlist(db, { id: entry?.id ?? '', actor: 'test' });
    if (accountId === null) throw new Error('This address is not on the waitlist.');
    const credit = { ms: 3_600_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
    await createLedger(db).grant({ accountId, ...credit });
    return accountId;
  }
  return {
    ...service,
    mail,
    admit,
    async accountOf(email) {
      const { rows } = await service.database.pool.query<{ account_id: string }>(
        'select m.account_id from memberships m join console_users u on u.id = m.user_id where u.email = $1',
        [email],
      );
      return rows[0]?.account_id ?? '';
    },
    async signedIn(email) {
      await admit(email);
      const browser = new TestBrowser(service.url);
      await browser.signIn(email, mail);
      return browser;
    },
    async joined(owner, input) {
      await owner.post('/settings/members', input);
      const browser = new TestBrowser(service.url);
      await browser.signIn(input.email, mail);
      const { body } = await browser.get<InvitationList>('/invitations');
      const answer = await browser.post(`/invitations/${body.data[0]?.id}/accept`);
      if (answer.status !== 200) throw new Error(`Could not join: ${answer.status}`);
      return browser;
    },
    async stop() {
      await service.stop();
      await mail.stop();
    },
  };
}

export interface ConsoleAnswer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Keeps cookies and sends Origin headers as browsers do. Tests can override any header. */
export class TestBrowser {
  readonly url: string;
  readonly #cookies = new Map<string, string>();

  constructor(url: string) {
    this.url = url;
  }

  /** The value of one cookie. */
  cookieOf(name: string): string {
    return this.#cookies.get(name) ?? '';
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  set cookie(text: string) {
    this.#cookies.clear();
    for (const cookie of text.split('; ')) this.#keep(cookie);
  }

  #keep(cookie: string): void {
    const [name = '', value = ''] = cookie.split(';')[0]?.split('=') ?? [];
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }

  get<T>(path: string, headers: Record<string, string> = {}): Promise<ConsoleAnswer<T>> {
    return this.#call<T>(path, { headers });
  }

  /** A downloaded table, with its byte order mark. */
  async csv(path: string): Promise<string> {
    const headers = { cookie: this.cookie };
    const answer = await fetch(`${this.url}/console-api${path}`, { headers });
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer());
  }

  /** Reads a page until it is as wanted, no more often than the console allows. */
  async until<T>(path: string, isWanted: (page: T) => boolean): Promise<T> {
    const pages: T[] = [];
    await eventually(
      async () => {
        const { status, body } = await this.get<T>(path);
        if (status !== 200) throw new Error(`${path} was refused: ${status}`);
        pages[0] = body;
        return isWanted(body);
      },
      60_000,
      60_000 / REQUESTS.perMinute,
    );
    const [page] = pages;
    if (page === undefined) throw new Error(`${path} was not read.`);
    return page;
  }

  post<T>(
    path: string,
    body: unknown = {},
    headers: Record<string, string> = {},
  ): Promise<ConsoleAnswer<T>> {
    return this.#call<T>(path, {
      method: 'POST',
      headers: {
        origin: PUBLIC_URL,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  }

  async signIn(email: string, mail: MailServer): Promise<void> {
    const asked = await this.post<CodeRequested>('/sign-in/code', { email, language: 'en' });
    const code = await mail.takeCode(email);
    const answer = await this.post('/sign-in/verify', { challenge: asked.body.challenge, code });
    if (answer.status !== 200) throw new Error(`Could not sign in: ${answer.status}`);
  }

  async createKey(name = 'server'): Promise<NewKey> {
    const models = ['svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1'];
    const answer = await this.post<NewKey>('/keys', { name, models, expires_in_days: null });
    if (answer.status !== 201) throw new Error(`Could not create a key: ${answer.status}`);
    return answer.body;
  }

  async #call<T>(
    path: string,
    init: { method?: string; headers: Record<string, string>; body?: string },
  ): Promise<ConsoleAnswer<T>> {
    const cookie: Record<string, string> = this.cookie === '' ? {} : { cookie: this.cookie };
    const response = await fetch(`${this.url}/console-api${path}`, {
      ...init,
      headers: { ...cookie, ...init.headers },
    });
    for (const cookie of response.headers.getSetCookie()) this.#keep(cookie);
    const body: T = JSON.parse(await response.text());
    return { status: response.status, headers: response.headers, body };
  }
}
