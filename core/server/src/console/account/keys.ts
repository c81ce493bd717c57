import { API_KEY_PREFIX, MODEL_IDS } from '@svc-asr/protocol';
import {
  CreateKey,
  RenameKey,
  type ConsoleKey,
  type KeyList,
  type NewKey,
} from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  insertApiKey,
  insertSuccessor,
  listApiKeys,
  renameApiKey,
  revokeApiKey,
  type ApiKeyRecord,
} from '../../accounts/keys/api-keys.ts';
import { generateApiKey, hashApiKey } from '../../accounts/keys/format.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { findCell } from '../../accounts/cell.ts';
import { audited, memberOf, requireOwner } from '../request/guard.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { keyIdParam, type IdParam } from '../request/params.ts';

const DAY_MS = 86_400_000;
type KeyRules = Pick<ApiKeyRecord, 'name' | 'scopes' | 'expiresAt'>;

/** Routes for an account's keys. The secret is in the creation response only. */
export function keyRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/keys', async (request): Promise<KeyList> => {
    const { accountId } = memberOf(request);
    const [keys, account] = await Promise.all([
      listApiKeys(deps.db, accountId),
      findAccount(deps.db, accountId),
    ]);
    const limit = account?.keyLimit ?? 0;
    const counted = keys.filter((key) => statusOf(key) === 'live' && key.successorId === null);
    return {
      data: keys.map(presentKey),
      may_create: counted.length < limit,
      limit,
      now: new Date().toISOString(),
    };
  });

  app.post<{ Body: CreateKey }>(
    '/keys',
    { onRequest: requireOwner, schema: { body: CreateKey } },
    async (request, reply) => {
      const { name, models, expires_in_days: days } = request.body;
      void reply.code(201);
      return createKey(deps, request, {
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
      const { accountId } = memberOf(request);
      const old = await findKey(deps, accountId, request.params.id);
      void reply.code(201);
      return rotateKey(deps, request, old);
    },
  );

  app.post<IdParam>(
    '/keys/:id/revoke',
    { onRequest: requireOwner, schema: { params: keyIdParam } },
    async (request) => {
      const key = { accountId: memberOf(request).accountId, id: request.params.id };
      const revoked = await audited(deps.db, request, (db) => revokeApiKey(db, key));
      if (!revoked) throw new ConsoleError('not_found');
      return {};
    },
  );

  app.post<IdParam & { Body: RenameKey }>(
    '/keys/:id/rename',
    { onRequest: requireOwner, schema: { params: keyIdParam, body: RenameKey } },
    async (request) => {
      const { accountId } = memberOf(request);
      const key = { accountId, id: request.params.id, name: request.body.name.trim() };
      const renamed = await audited(deps.db, request, (db) => renameApiKey(db, key));
      if (!renamed) throw new ConsoleError('not_found');
      return {};
    },
  );
}

async function createKey(
  deps: ConsoleDeps,
  request: FastifyRequest,
  rules: KeyRules,
): Promise<NewKey> {
  const { secret, record } = await newKey(deps, memberOf(request).accountId);
  const created = await audited(deps.db, request, (db) =>
    insertApiKey(db, { ...record, ...rules }),
  );
  if (!created) throw new ConsoleError('key_limit_reached');
  return { key: presentKey(await findKey(deps, record.accountId, record.id)), secret };
}

async function rotateKey(
  deps: ConsoleDeps,
  request: FastifyRequest,
  old: ApiKeyRecord,
): Promise<NewKey> {
  const { secret, record } = await newKey(deps, old.accountId);
  const successor = { ...record, oldId: old.id, expiresAt: renewedExpiry(old) };
  const outcome = await audited(deps.db, request, (db) => insertSuccessor(db, successor));
  if (outcome === 'not_live') throw new ConsoleError('key_not_live');
  if (outcome === 'rotated') throw new ConsoleError('key_already_rotated');
  return { key: presentKey(await findKey(deps, record.accountId, record.id)), secret };
}

async function newKey(deps: ConsoleDeps, accountId: string) {
  const [pepper] = deps.service.config.secrets.apiKeyPeppers;
  const { key, publicId } = generateApiKey(await findCell(deps.db));
  const hmac = hashApiKey(key, pepper.secret);
  return { secret: key, record: { id: publicId, accountId, hmac, pepperId: pepper.id } };
}

async function findKey(deps: ConsoleDeps, accountId: string, id: string): Promise<ApiKeyRecord> {
  const keys = await listApiKeys(deps.db, accountId);
  const key = keys.find((known) => known.id === id);
  if (key === undefined) throw new ConsoleError('not_found');
  return key;
}

/** The replacement of a 90-day key expires 90 days from now. */
function renewedExpiry(key: ApiKeyRecord): Date | null {
  if (key.expiresAt === null) return null;
  return new Date(Date.now() + (key.expiresAt.getTime() - key.createdAt.getTime()));
}

/** For display only. The database's clock decides whether a key is accepted. */
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
    successor: key.successorId,
  };
}
