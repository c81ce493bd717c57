import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { keyed } from '../../accounts/people/sign-in-code.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { networkOf } from '@svc-asr/runtime/network.ts';
import type { ConsoleDeps } from '../deps.ts';
import { readDeviceToken } from '../request/cookies.ts';

/** A device token is an id and its MAC, 16 bytes each, so that a forged one is refused without the database. */
const ID_BYTES = 16;

type Secrets = readonly Buffer[];

function macOf(secret: Buffer, id: Buffer): Buffer {
  return createHmac('sha256', secret)
    .update('device token ')
    .update(id)
    .digest()
    .subarray(0, ID_BYTES);
}

/** Returns a token for a browser in which someone has just signed in. */
export function newDeviceToken([secret]: Secrets): string {
  if (secret === undefined) throw new Error('No secret is configured for device tokens.');
  const id = randomBytes(ID_BYTES);
  return Buffer.concat([id, macOf(secret, id)]).toString('base64url');
}

/** Returns the token of a browser in which someone has signed in before, or null. */
export function deviceOf(request: FastifyRequest, { secrets }: ConsoleDeps): string | null {
  const token = readDeviceToken(request.headers.cookie);
  if (token === null) return null;
  const bytes = Buffer.from(token, 'base64url');
  const [id, mac] = [bytes.subarray(0, ID_BYTES), bytes.subarray(ID_BYTES)];
  return secrets.some((secret) => timingSafeEqual(macOf(secret, id), mac)) ? token : null;
}

/** Where a request comes from, as hashes with each secret, the current one first. */
export interface Places {
  readonly network: readonly Buffer[];
  /** Empty for a browser in which nobody has signed in. */
  readonly device: readonly Buffer[];
}

export function placesOf(
  { secrets }: { secrets: Secrets },
  input: { address: string; device: string | null },
): Places {
  const hash = (text: string) => secrets.map((secret) => keyed(secret, text));
  return {
    network: hash(`source ${networkOf(input.address)}`),
    device: input.device === null ? [] : hash(`device ${input.device}`),
  };
}

/** From now on, requests of strangers don't count against this person on this device and network. */
export async function rememberPlaces(
  db: Queryable,
  { userId, places }: { userId: string; places: Places },
): Promise<void> {
  const current = [places.network[0], places.device[0]].filter((hash) => hash !== undefined);
  await db.query('select remember_places($1, $2)', [userId, current]);
}
