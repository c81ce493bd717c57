import type { FastifyInstance } from 'fastify';
import type { ConsoleDeps } from '../deps.ts';
import { requireOperator } from '../request/guard.ts';
import { operatorAccountRoutes } from './accounts.ts';
import { operatorAuditRoutes } from './audit.ts';
import { operatorRequestRoutes } from './requests.ts';
import { operatorStartRoutes } from './start.ts';
import { operatorStreamRoutes } from './streams.ts';
import { operatorWaitlistRoutes } from './waitlist.ts';

/** The pages of operators who signed in with a passkey. The database checks both again before every change. */
export function operatorRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.addHook('onRequest', requireOperator);
  operatorStartRoutes(app, deps);
  operatorWaitlistRoutes(app, deps);
  operatorAccountRoutes(app, deps);
  operatorRequestRoutes(app, deps);
  operatorStreamRoutes(app, deps);
  operatorAuditRoutes(app, deps);
}
