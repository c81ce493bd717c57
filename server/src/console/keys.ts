import { API_KEY_PREFIX, MODEL_IDS } from '@svc-asr/protocol';
import {
  CreateKey,
  type ConsoleKey,
  type KeyList,
  type NewKey,
} from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import {
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  type ApiKeyRecord,
} from '../accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '../api-key-format.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { requireOwner, signedInOf } from './guard.ts';
import { keyIdParam, type IdParam } from './id-param.ts';

const DAY_MS = 86_400_000;
type KeyRules = Pick<ApiKeyRecord, 'name' | 'scopes' | 'expiresAt'>;

/** An account's keys. The secret is in one answer, once, and nowhere else. */
export function keyRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/keys', async (request): Promise<KeyList> => {
    const keys = await listApiKeys(deps.db, signedInOf(request).accountId);
    return { data: keys.map(presentKey) };
  });

  app.post<{ Body: CreateKey }>(
    '/keys',
    { onRequest: requireOwner, schema: { body: CreateKey } },
    async (request, reply) => {
      const { name, models, expires_in_days: days } = request.body;
      void reply.code(201);
      return createKey(deps, signedInOf(request).accountId, {
        name: name.trim(),
        scopes: models,
        expiresAt: days === null ? null : new Date(Date.now() + days * DAY_MS),
      });
    },
  );

  app.post<IdParam>(
    '/keys/:id/rotate',
    { onRequest: requireOwner, schema: { params: keyIdParam } },
    async (request, reply) => {
      const { accountId } = signedInOf(request);
      const old = await findKey(deps, accountId, request.params.id);
      if (statusOf(old) !== 'live') throw new ConsoleError('key_not_live');
      void reply.code(201);
      return createKey(deps, accountId, { ...old, expiresAt: renewedExpiry(old) });
    },
  );

  app.post<IdParam>(
    '/keys/:id/revoke',
    { onRequest: requireOwner, schema: { params: keyIdParam } },
    async (request) => {
      const key = { accountId: signedInOf(request).accountId, id: request.params.id };
      if (!(await revokeApiKey(deps.db, key))) throw new ConsoleError('not_found');
      return {};
    },
  );
}

async function createKey(deps: ConsoleDeps, accountId: string, rules: KeyRules): Promise<NewKey> {
  const { key, publicId } = generateApiKey();
  const created = await insertApiKey(deps.db, {
    id: publicId,
    accountId,
    hmac: hashApiKey(key, deps.service.config.apiKeyPepper),
    name: rules.name,
    scopes: rules.scopes,
    expiresAt: rules.expiresAt,
  });
  if (!created) throw new ConsoleError('key_limit_reached');
  return { key: presentKey(await findKey(deps, accountId, publicId)), secret: key };
}

async function findKey(deps: ConsoleDeps, accountId: string, id: string): Promise<ApiKeyRecord> {
  const keys = await listApiKeys(deps.db, accountId);
  const key = keys.find((known) => known.id === id);
  if (key === undefined) throw new ConsoleError('not_found');
  return key;
}

/** A key that lived for 90 days is followed by one that lives for 90 days from now. */
function renewedExpiry(key: ApiKeyRecord): Date | null {
  if (key.expiresAt === null) return null;
  return new Date(Date.now() + (key.expiresAt.getTime() - key.createdAt.getTime()));
}

/** For show alone: whether a key is accepted is decided by the database's clock. */
function statusOf(key: ApiKeyRecord): ConsoleKey['status'] {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && key.expiresAt.getTime() <= Date.now() ? 'expired' : 'live';
}

function presentKey(key: ApiKeyRecord): ConsoleKey {
  return {
    id: key.id,
    name: key.name,
    hint: API_KEY_PREFIX + key.id,
    models: [...(key.scopes ?? MODEL_IDS)],
    status: statusOf(key),
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
