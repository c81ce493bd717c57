import { NAME_PATTERN } from '@svc-asr/protocol/text-rules.ts';
import { isLocalUrl } from '../platform/network/require-tls.ts';
import type { EnvironmentReader } from '@svc-asr/runtime/environment.ts';

export interface ConsoleConfig {
  /** Public URL of the console, used in emails. */
  readonly publicUrl: string;
  /** Null: no emails are sent, so nobody can sign in to the console. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /** Contact for vulnerabilities, mailto: or https:. Null: there is no security.txt. */
  readonly securityContact: string | null;
  /** Shows emails in the browser instead of sending them. For development only. */
  readonly devMailbox: boolean;
  /** The account that pays for the demo on the public page. Null: no demo. */
  readonly demo: { readonly accountId: string; readonly perDay: number } | null;
  /** The price on the public page. Null: free while in preview. */
  readonly price: string | null;
  readonly privacyUrl: string;
  /** Null: the public page has no link to terms. */
  readonly termsUrl: string | null;
  /** Sources that the playground may connect to, in Content-Security-Policy syntax. */
  readonly streamOrigins: string;
}

const PRICE_LENGTH_MAX = 120;
const ACCOUNT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function readConsoleConfig(read: EnvironmentReader): ConsoleConfig {
  return {
    publicUrl: read.url('PUBLIC_URL', ['https:', 'http:'], 'http://localhost:8080'),
    smtpUrl: read.optionalUrl('SMTP_URL', ['smtp:', 'smtps:']),
    securityContact: read.optionalUrl('SECURITY_CONTACT', ['mailto:', 'https:']),
    mailFrom: read.text('MAIL_FROM', 'svc-asr <no-reply@localhost>'),
    devMailbox: readDevMailbox(read),
    demo: readDemo(read),
    price: readPrice(read),
    privacyUrl: readLink(read, 'PRIVACY_URL') ?? '/docs/privacy',
    termsUrl: readLink(read, 'TERMS_URL'),
    streamOrigins: read.text('CONSOLE_STREAM_ORIGINS', originOf(read.env['PUBLIC_STREAM_URL'])),
  };
}

/** Anyone who can read this mailbox can sign in as anyone, so it is allowed only on a loopback address. */
function readDevMailbox(read: EnvironmentReader): boolean {
  const { env, problems } = read;
  const wanted = read.flag('CONSOLE_DEV_MAILBOX');
  const local =
    ['127.0.0.1', '::1', 'localhost'].includes(read.text('HOST', '127.0.0.1')) &&
    [env['PUBLIC_URL'], env['PUBLIC_STREAM_URL']].every((url) => !url || isLocalUrl(url)) &&
    !env['TRUSTED_PROXIES'];
  if (wanted && (!local || env['NODE_ENV'] === 'production')) {
    problems.push(
      "CONSOLE_DEV_MAILBOX=1 is for a developer's own machine: HOST, PUBLIC_URL and " +
        'PUBLIC_STREAM_URL must be local, and no proxy may be configured',
    );
  }
  return wanted;
}

function readDemo(read: EnvironmentReader): ConsoleConfig['demo'] {
  const accountId = read.env['DEMO_ACCOUNT'];
  const perDay = read.integer('DEMO_PER_DAY', { fallback: 200, min: 1, max: 1_000_000 });
  if (!accountId) return null;
  if (!ACCOUNT_ID.test(accountId)) read.problems.push('DEMO_ACCOUNT must be the id of an account');
  return { accountId, perDay };
}

function readPrice({ env, problems }: EnvironmentReader): string | null {
  const value = env['PRICE_TEXT'];
  if (!value) return null;
  if (value.length > PRICE_LENGTH_MAX || !new RegExp(NAME_PATTERN, 'u').test(value)) {
    problems.push(`PRICE_TEXT must be one line of at most ${PRICE_LENGTH_MAX} characters`);
  }
  return value;
}

/** A page of this service, or of another. */
function readLink(read: EnvironmentReader, name: string): string | null {
  const value = read.env[name];
  if (!value) return null;
  return /^\/(?!\/)[!-~]*$/.test(value) ? value : read.url(name, ['https:']);
}

function originOf(address: string | undefined): string {
  return URL.canParse(address ?? '') ? new URL(address ?? '').origin : '';
}
