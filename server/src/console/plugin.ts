import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createPool } from '../db.ts';
import type { Deps } from '../deps.ts';
import { createRateLimiter } from '../rate-limit.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError, presentConsoleError } from './console-error.ts';
import { dataRoutes } from './data.ts';
import { devMailboxRoutes } from './dev-mailbox.ts';
import { forbidCaching, refuseOtherSites, requireSignedIn } from './guard.ts';
import { keyRoutes } from './keys.ts';
import { createDevMailbox, createSmtpMailer, type Mailer } from './mailer.ts';
import { operatorRoutes } from './operator.ts';
import { Outbox } from './outbox.ts';
import { overviewRoutes } from './overview.ts';
import { passkeySignInRoutes } from './passkey-sign-in.ts';
import { passkeyRoutes } from './passkeys.ts';
import { playgroundRoutes } from './playground.ts';
import { settingsRoutes } from './settings.ts';
import { signInRoutes } from './sign-in.ts';
import { loadSite } from './site.ts';
import { siteRoutes } from './site-routes.ts';
import { waitlistRoutes } from './waitlist.ts';
import { startWelcoming } from './welcome.ts';

const SITE = join(import.meta.dirname, '../../../console/dist/site');
const CONNECTIONS_MAX = 5;
/** A dashboard with a live session asks thirty times a minute; a few tabs of it are fine. */
const REQUESTS = { perMinute: 240, burst: 120 };

/** The developer console: pages under /, their own API under /console-api. */
export async function consolePlugin(app: FastifyInstance, service: Deps): Promise<void> {
  const deps = openConsole(service);
  const welcoming = startWelcoming(deps);
  app.addHook('onClose', async () => {
    await welcoming.stop();
    await deps.outbox?.idle();
    deps.mailer?.close();
    await deps.db.end();
  });
  const site = await loadSite(SITE);
  if (site.size === 0) service.log.warn('The console is not built. Run npm run build.');
  siteRoutes(app, {
    site,
    streamOrigins: service.config.consoleStreamOrigins,
    https: service.config.publicUrl.startsWith('https:'),
  });
  await app.register((api) => consoleApi(api, deps), { prefix: '/console-api' });
}

async function consoleApi(app: FastifyInstance, deps: ConsoleDeps): Promise<void> {
  app.decorateRequest('signedIn', null);
  app.addHook('onRequest', forbidCaching);
  app.addHook('onRequest', refuseOtherSites);
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ConsoleError)) throw error;
    return reply.code(error.status).send(presentConsoleError(error, request.id));
  });
  waitlistRoutes(app, deps);
  signInRoutes(app, deps);
  passkeySignInRoutes(app, deps);
  devMailboxRoutes(app, deps);
  await app.register(async (signedIn) => {
    signedIn.addHook('onRequest', requireSignedIn(deps));
    overviewRoutes(signedIn, deps);
    keyRoutes(signedIn, deps);
    playgroundRoutes(signedIn, deps);
    settingsRoutes(signedIn, deps);
    passkeyRoutes(signedIn, deps);
    dataRoutes(signedIn, deps);
    await signedIn.register(async (operators) => operatorRoutes(operators, deps));
  });
}

function openConsole(service: Deps): ConsoleDeps {
  const { config, log, clock } = service;
  const mailer = openMailer(service);
  const lost = (error: unknown) => log.error({ err: error }, 'A sign-in letter was not sent.');
  return {
    service,
    db: createPool({
      url: config.databaseUrl,
      role: 'svc_console',
      applicationName: `svc-asr console ${config.nodeId}`,
      maxConnections: CONNECTIONS_MAX,
      onError: (error) => log.warn({ err: error }, 'A database connection broke.'),
    }),
    mailer,
    outbox: mailer === null ? null : new Outbox(mailer, lost),
    // A key of its own, so that no hash of the console says anything about an API key.
    secret: Buffer.from(hkdfSync('sha256', config.apiKeyPepper, '', 'svc-asr console', 32)),
    publicUrl: config.publicUrl,
    requests: createRateLimiter(REQUESTS, clock),
  };
}

function openMailer({ config, log }: Deps): Mailer | null {
  if (config.smtpUrl !== null) {
    return createSmtpMailer({ url: config.smtpUrl, from: config.mailFrom });
  }
  if (config.devMailbox) {
    // The one place where a code may be printed: a developer's own machine, by their own setting.
    return createDevMailbox((letter) => log.info({ subject: letter.subject }, 'dev mailbox'));
  }
  log.warn('SMTP_URL is not set: nobody can sign in to the console.');
  return null;
}
