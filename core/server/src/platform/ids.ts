import { randomUUID } from 'node:crypto';

export const REQUEST_ID_HEADER = 'x-request-id';

/** Request ids are always generated here. An inbound one could contain anything, even a secret. */
export function newRequestId(): string {
  return randomUUID();
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function writeUuid(uuid: string, bytes: Buffer, at: number): void {
  if (!UUID.test(uuid)) throw new TypeError('Not a UUID.');
  bytes.write(uuid.replaceAll('-', ''), at, 'hex');
}

export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
