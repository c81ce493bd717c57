import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { AddPasskey, UsePasskey } from '@svc-asr/protocol/console/console.ts';

/** Values that a test can falsify, which the server must detect. */
export interface Bent {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly userVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id?: string };
  readonly user: { readonly id: string };
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const NEW_CREDENTIAL = 0x40;

/** A software authenticator (ES256, no attestation) that signs like a browser with a device. */
export class SoftwareAuthenticator {
  readonly credentialId = randomBytes(32).toString('base64url');
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject };
  readonly #origin: string;
  #userHandle = '';
  #counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  create(options: CreationOptions, bent: Bent = {}): AddPasskey['credential'] {
    this.#userHandle = options.user.id;
    const id = Buffer.from(this.credentialId, 'base64url');
    const length = Buffer.from([id.length >> 8, id.length & 0xff]);
    const credential = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()]);
    const known = this.#authenticatorData(NEW_CREDENTIAL, {
      ...bent,
      rpId: bent.rpId ?? options.rp.id ?? '',
    });
    const authData = Buffer.concat([known, credential]);
    // CBOR by hand: a map of three, a fixed text, an empty statement and fewer than 256 bytes.
    const attestationObject = Buffer.concat([
      Buffer.from('\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58', 'latin1'),
      Buffer.from([authData.length]),
      authData,
    ]);
    return {
      ...this.#named(),
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge, bent),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  get(
    options: { readonly challenge: string; readonly rpId?: string },
    bent: Bent = {},
  ): UsePasskey['credential'] {
    this.#counter += 1;
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, bent);
    const authData = this.#authenticatorData(0, { ...bent, rpId: bent.rpId ?? options.rpId ?? '' });
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    return {
      ...this.#named(),
      response: {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
        userHandle: bent.userHandle ?? this.#userHandle,
      },
    };
  }

  #named() {
    const id = this.credentialId;
    return { id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} };
  }

  #clientData(type: string, challenge: string, bent: Bent): string {
    const said = {
      type,
      challenge: bent.challenge ?? challenge,
      origin: bent.origin ?? this.#origin,
    };
    return Buffer.from(JSON.stringify(said)).toString('base64url');
  }

  #authenticatorData(flags: number, bent: Bent & { rpId: string }): Buffer {
    const verified = bent.userVerified === false ? 0 : USER_VERIFIED;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(bent.counter ?? this.#counter);
    const allFlags = Buffer.from([flags | USER_PRESENT | verified]);
    return Buffer.concat([sha256(Buffer.from(bent.rpId)), allFlags, counter]);
  }

  /** CBOR by hand: key type EC2, algorithm ES256, curve P-256, x, y. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, 'base64url'),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, 'base64url'),
    ]);
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
