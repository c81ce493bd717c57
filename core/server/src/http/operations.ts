import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { SPECIFIC_MESSAGES } from '@svc-asr/protocol';
import { ApiError } from '../platform/api-error.ts';
import { withinDeadline } from '../platform/deadline.ts';

const WRONG_TOKEN = SPECIFIC_MESSAGES.invalid_api_key.metricsToken;

/** Routes for operators: /healthz, /readyz and /metrics. */
export function operationRoutes(app: FastifyInstance, deps: Deps): void {
  const isDatabaseUp = sharedCheck(() => queryDatabase(deps));
  app.get('/healthz', () => ({ status: 'ok' }));

  app.get('/readyz', async () => {
    if (deps.lifecycle.draining) throw new ApiError('service_restarting');
    if (!deps.lifecycle.checks.every((holds) => holds())) throw new ApiError('service_unavailable');
    if (!(await isDatabaseUp())) throw new ApiError('service_unavailable');
    const { warnings } = deps.lifecycle;
    return warnings.length === 0 ? { status: 'ready' } : { status: 'ready', warnings };
  });

  app.get('/metrics', async (request, reply) => {
    const { metricsToken } = deps.config.secrets;
    if (metricsToken === null) throw new ApiError('route_not_found');
    if (!isToken(request.headers.authorization, metricsToken)) {
      throw new ApiError('invalid_api_key', { message: WRONG_TOKEN });
    }
    deps.metrics.databaseUp.set((await isDatabaseUp()) ? 1 : 0);
    void reply.type(deps.metrics.registry.contentType);
    return deps.metrics.registry.metrics();
  });
}

/** Concurrent requests share one check, because /readyz is public and not rate limited. */
function sharedCheck(check: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<boolean> | null = null;
  return () => {
    running ??= check().finally(() => {
      running = null;
    });
    return running;
  };
}

async function queryDatabase({ db }: Deps): Promise<boolean> {
  return withinDeadline(db.query('select 1')).then(
    () => true,
    () => false,
  );
}

function isToken(authorization: string | undefined, token: string): boolean {
  const sent = Buffer.from(authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return sent.byteLength === wanted.byteLength && timingSafeEqual(sent, wanted);
}
