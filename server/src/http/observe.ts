import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';

/** One log line and one observation a request. Neither holds anything that the caller sent. */
export function observeRequests(app: FastifyInstance, deps: Deps): void {
  // No field of the line can hold a secret: it is spared the search by path, a twentieth of a request. That by looks stays.
  const log = deps.log.child({}, { redact: [] });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const status = reply.statusCode;
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const code = request.refusal?.code;
    const method = request.method;
    deps.metrics.httpSeconds.observe({ route, method, status }, reply.elapsedTime / 1000);
    if (code !== undefined) deps.metrics.refusals.inc({ code });
    log.info(
      {
        requestId: request.id,
        method,
        route,
        status,
        code,
        ms,
        accountId: request.caller?.accountId,
      },
      'request',
    );
    done();
  });
}
