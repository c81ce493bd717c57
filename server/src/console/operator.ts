import type { FastifyInstance } from 'fastify';
import type { ConsoleDeps } from './console-deps.ts';
import { requireOperator } from './guard.ts';
import { operatorAccountRoutes } from './operator-accounts.ts';
import { operatorAuditRoutes } from './operator-audit.ts';
import { operatorRequestRoutes } from './operator-requests.ts';
import { operatorStreamRoutes } from './operator-streams.ts';
import { operatorWaitlistRoutes } from './operator-waitlist.ts';

/** The pages of operators who signed in with a passkey. The database checks both again before every change. */
export function operatorRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.addHook('onRequest', requireOperator);
  operatorWaitlistRoutes(app, deps);
  operatorAccountRoutes(app, deps);
  operatorRequestRoutes(app, deps);
  operatorStreamRoutes(app, deps);
  operatorAuditRoutes(app, deps);
}
