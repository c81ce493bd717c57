import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createPool } from '../platform/database/db.ts';
import { consoleSecret } from '../accounts/people/sign-in-code.ts';
import type { Deps } from '../deps.ts';
import { createRateLimiter } from '../platform/network/rate-limit.ts';
import { activityRoutes } from './account/activity.ts';
import type { ConsoleDeps } from './deps.ts';
import { ConsoleError, presentConsoleError } from './request/error.ts';
import { compressAnswers } from './request/compress.ts';
import { confirmRoutes } from './sign-in/confirm.ts';
import { creditRequestRoutes } from './account/credit-requests.ts';
import { dataRoutes } from './account/data.ts';
import { demoRoutes, warnOfClosedDemo } from './pages/demo.ts';
import { devMailboxRoutes } from './email/dev-mailbox.ts';
import { deviceRoutes } from './sign-in/devices.ts';
import { createDownloads } from './request/downloads.ts';
import { fillPublicPages } from './pages/fill-page.ts';
import {
  forbidCaching,
  refuseOtherSites,
  requireAccount,
  requireSignedIn,
} from './request/guard.ts';
import { invitationRoutes } from './account/invitations.ts';
import { keyRoutes } from './account/keys.ts';
import { logRoutes } from './account/log.ts';
import { createDevMailbox, createSmtpMailer, type Mailer } from './email/mailer.ts';
import { operatorRoutes } from './operator/routes.ts';
import { Outbox } from './email/outbox.ts';
import { meRoutes, overviewRoutes } from './account/overview.ts';
import { passkeySignInRoutes } from './sign-in/passkey-sign-in.ts';
import { passkeyRoutes } from './sign-in/passkeys.ts';
import { playgroundRoutes } from './account/playground.ts';
import { personRoutes, settingsRoutes } from './account/settings.ts';
import { startCleanup } from './cleanup.ts';
import { startCreditCheck } from './email/credit-check.ts';
import { sessionRoutes } from './account/sessions.ts';
import { signInRoutes } from './sign-in/sign-in.ts';
import { loadSite } from './pages/site.ts';
import { securityTxtRoute } from './pages/security-txt.ts';
import { docsRoutes } from './pages/docs-routes.ts';
import { pageHeaders, siteRoutes } from './pages/site-routes.ts';
import { teamRoutes } from './account/team.ts';
import { usageRoutes } from './account/usage.ts';
import { waitlistRoutes } from './pages/waitlist.ts';
import { startEmailQueue } from './email/queue.ts';

const SITE = join(import.meta.dirname, '../../../../web/console/dist/site');
const DOCS = join(import.meta.dirname, '../../../../web/site/dist/site');
const CONNECTIONS_MAX = 5;
const SIGN_IN_CONNECTIONS_MAX = 2;
/** A dashboard with a live session sends thirty requests a minute. This allows a few tabs. */
export const REQUESTS = { perMinute: 240, burst: 120 };

/** The developer console and the documentation: pages under /, the console's own API under /console-api. */
export async function consolePlugin(app: FastifyInstance, service: Deps): Promise<void> {
  const deps = openConsole(service);
  const emailQueue = startEmailQueue(deps);
  const cleanup = startCleanup(deps);
  const creditCheck = startCreditCheck(deps);
  app.addHook('onClose', async () => {
    await emailQueue.stop();
    await cleanup.stop();
    await creditCheck.stop();
    await deps.outbox?.idle();
    deps.mailer?.close();
    await deps.db.end();
    await deps.signInDb.end();
  });
  const site = await loadSite(SITE);
  if (site.size === 0) service.log.warn('The console is not built. Run npm run build.');
  await warnOfClosedDemo(service);
  const headers = pageHeaders({
    streamOrigins: service.config.console.streamOrigins,
    https: service.config.console.publicUrl.startsWith('https:'),
  });
  siteRoutes(app, fillPublicPages(site, service.config.console), headers);
  docsRoutes(app, await loadSite(DOCS), headers);
  securityTxtRoute(app, service.config.console);
  await app.register((api) => consoleApi(api, deps), { prefix: '/console-api' });
}

async function consoleApi(app: FastifyInstance, deps: ConsoleDeps): Promise<void> {
  app.decorateRequest('signedIn', null);
  app.addHook('onRequest', forbidCaching);
  app.addHook('onRequest', refuseOtherSites(deps));
  app.addHook('onSend', compressAnswers);
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ConsoleError)) throw error;
    return reply.code(error.status).send(presentConsoleError(error, request.id));
  });
  waitlistRoutes(app, deps);
  demoRoutes(app, deps);
  signInRoutes(app, deps);
  passkeySignInRoutes(app, deps);
  devMailboxRoutes(app, deps);
  await app.register(async (signedIn) => {
    signedIn.addHook('onRequest', requireSignedIn(deps));
    meRoutes(signedIn, deps);
    personRoutes(signedIn, deps);
    invitationRoutes(signedIn, deps);
    passkeyRoutes(signedIn, deps);
    confirmRoutes(signedIn, deps);
    deviceRoutes(signedIn, deps);
    await signedIn.register(async (members) => {
      members.addHook('onRequest', requireAccount);
      overviewRoutes(members, deps);
      sessionRoutes(members, deps);
      usageRoutes(members, deps);
      creditRequestRoutes(members, deps);
      logRoutes(members, deps);
      keyRoutes(members, deps);
      playgroundRoutes(members, deps);
      settingsRoutes(members, deps);
      teamRoutes(members, deps);
      dataRoutes(members, deps);
      activityRoutes(members, deps);
    });
    await signedIn.register(async (operators) => operatorRoutes(operators, deps));
  });
}

function openConsole(service: Deps): ConsoleDeps {
  const { config, log, clock } = service;
  const mailer = openMailer(service);
  const onError = (error: Error) => log.warn({ err: error }, 'A database connection broke.');
  const lost = (error: unknown) => log.error({ err: error }, 'An email was not sent.');
  return {
    service,
    db: createPool({
      url: config.database.consoleUrl,
      role: 'svc_console',
      applicationName: `svc-asr console ${config.nodeId}`,
      maxConnections: CONNECTIONS_MAX,
      verify: service.history.verify,
      onError,
    }),
    signInDb: createPool({
      url: config.database.signInUrl,
      role: 'svc_sign_in',
      applicationName: `svc-asr sign-in ${config.nodeId}`,
      maxConnections: SIGN_IN_CONNECTIONS_MAX,
      verify: service.history.verify,
      onError,
    }),
    mailer,
    outbox: mailer === null ? null : new Outbox(mailer, lost),
    secrets: config.secrets.apiKeyPeppers.map(consoleSecret),
    publicUrl: config.console.publicUrl,
    requests: createRateLimiter(REQUESTS, clock),
    downloads: createDownloads(),
  };
}

const NO_EMAIL = 'SMTP_URL is not set: nobody can sign in to the console with an email code.';

function openMailer({ config, log, lifecycle }: Deps): Mailer | null {
  if (config.console.smtpUrl !== null) {
    return createSmtpMailer({ url: config.console.smtpUrl, from: config.console.mailFrom });
  }
  if (config.console.devMailbox) {
    // The only place that may log a code: a developer's machine with an explicit setting.
    return createDevMailbox(({ subject }) => log.info({ subject }, 'dev mailbox'));
  }
  log.warn(`${NO_EMAIL} Set SMTP_URL and MAIL_FROM. Until then /readyz repeats this warning.`);
  lifecycle.warnings.push(NO_EMAIL);
  return null;
}
