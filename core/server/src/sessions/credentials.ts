import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { CREDENTIAL_PREFIX } from '@svc-asr/protocol';
import { proofOf } from '@svc-asr/protocol/lost-host.ts';
import type { NumberedSecrets } from '../platform/numbered-secrets.ts';
import { uuidFromBytes, writeUuid } from '../platform/ids.ts';

/**
 * A session credential is derived, never stored, so an idempotent replay can give the same one again.
 * Layout: version 1, signing key id 1, session id 16, account id 16, expiry (unix ms) 6, HMAC-SHA-256
 * 32. The account id lets a claim find its partition. The transition `reserved -> active` makes it
 * single-use.
 */
export interface SessionCredential {
  readonly sessionId: string;
  readonly accountId: string;
  readonly expiresAtMs: number;
}

export interface Credentials {
  issue(credential: SessionCredential): string;
  /** Returns null unless we signed it. Doesn't check the expiry, which the database decides. */
  verify(text: string): SessionCredential | null;
  /** Whether `proof` is the end of the credential, which only its client and the service have. */
  proves(credential: SessionCredential, proof: string): boolean;
}

const VERSION = 1;
const SESSION_AT = 2;
const ACCOUNT_AT = 18;
const EXPIRY_AT = 34;
const MAC_AT = 40;
const LENGTH = 72;
const ENCODED = new RegExp(`^${CREDENTIAL_PREFIX.replaceAll('.', '\\.')}([\\w-]{96})$`);

export function createCredentials(keys: NumberedSecrets): Credentials {
  // Prepared once: an HMAC with a plain buffer costs five times as much.
  const secrets = new Map(keys.map(({ id, secret }) => [id, createSecretKey(secret)]));
  const [{ id: currentId, secret }] = keys;
  const current = createSecretKey(secret);
  return {
    issue: (credential) => encode(credential, currentId, current),
    proves(credential, proof) {
      const given = Buffer.from(proof);
      return [...secrets].some(([keyId, key]) => {
        const known = Buffer.from(proofOf(encode(credential, keyId, key)));
        return given.byteLength === known.byteLength && timingSafeEqual(given, known);
      });
    },
    verify(text) {
      const encoded = ENCODED.exec(text)?.[1];
      if (encoded === undefined) return null;
      const bytes = Buffer.from(encoded, 'base64url');
      const key = secrets.get(bytes[1] ?? 0);
      if (bytes[0] !== VERSION || key === undefined) return null;
      if (!timingSafeEqual(mac(key, bytes), bytes.subarray(MAC_AT))) return null;
      return {
        sessionId: uuidFromBytes(bytes.subarray(SESSION_AT, ACCOUNT_AT)),
        accountId: uuidFromBytes(bytes.subarray(ACCOUNT_AT, EXPIRY_AT)),
        expiresAtMs: bytes.readUIntBE(EXPIRY_AT, MAC_AT - EXPIRY_AT),
      };
    },
  };
}

function encode(credential: SessionCredential, keyId: number, key: KeyObject): string {
  const bytes = Buffer.alloc(LENGTH);
  bytes[0] = VERSION;
  bytes[1] = keyId;
  writeUuid(credential.sessionId, bytes, SESSION_AT);
  writeUuid(credential.accountId, bytes, ACCOUNT_AT);
  bytes.writeUIntBE(credential.expiresAtMs, EXPIRY_AT, MAC_AT - EXPIRY_AT);
  mac(key, bytes).copy(bytes, MAC_AT);
  return CREDENTIAL_PREFIX + bytes.toString('base64url');
}

function mac(key: KeyObject, bytes: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes.subarray(0, MAC_AT)).digest();
}
