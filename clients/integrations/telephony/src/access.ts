import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { trimSlashes } from '@svc-asr/protocol/trim-slashes.ts';
import { isSame } from '@svc-asr/runtime/server-access.ts';

/** Who may send calls. */

/**
 * Whether Twilio signed this handshake: HMAC-SHA1 of the URL in the TwiML with the account's auth token. Behind a proxy
 * the bridge only knows that URL from `publicUrl`. Twilio signs some URLs with a trailing slash or the port.
 */
export function isSignedByTwilio(
  request: IncomingMessage,
  input: { readonly authToken: string; readonly publicUrl: string | null },
): boolean {
  const given = String(request.headers['x-twilio-signature'] ?? '');
  const origin = trimSlashes(input.publicUrl ?? `wss://${request.headers.host ?? ''}`);
  const origins = /:\d+$/.test(origin) ? [origin] : [origin, `${origin}:443`];
  const target = request.url ?? '/';
  return origins.some((start) =>
    [target, `${target}/`].some((end) => {
      const hmac = createHmac('sha1', input.authToken).update(start + end);
      return isSame(given, hmac.digest('base64'));
    }),
  );
}

/** Addresses and networks, such as `10.0.0.5` and `10.1.0.0/16`. */
export class AllowList {
  readonly #list = new BlockList();

  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry);
  }

  has(address: string): boolean {
    const bare = address.replace(/^::ffff:(?=\d+\.)/, '');
    return isIP(bare) !== 0 && this.#list.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4');
  }

  #add(entry: string): void {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const bits = Number(prefix);
    const isValid =
      isIP(address) !== 0 &&
      (prefix === undefined || (/^\d+$/.test(prefix) && bits <= (family === 'ipv6' ? 128 : 32)));
    if (!isValid) throw new Error(`Invalid address ${entry}. Use 10.0.0.5 or 10.1.0.0/16.`);
    if (prefix === undefined) this.#list.addAddress(address, family);
    else this.#list.addSubnet(address, bits, family);
  }
}
