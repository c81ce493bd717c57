import {
  AddPasskey,
  CONSOLE_LIMITS,
  type Passkey,
  type PasskeyList,
} from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import {
  insertPasskey,
  listPasskeys,
  removePasskey,
  type Passkey as PasskeyRecord,
} from '../accounts/passkeys.ts';
import { audited } from './audited.ts';
import type { SignedIn } from './browser-sessions.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { signedInOf } from './guard.ts';
import { idParam, type IdParam } from './id-param.ts';
import { passkeyEmail } from './emails.ts';
import { issueChallenge, spendChallenge } from './passkey-challenges.ts';
import { ALGORITHMS, refuseUnless, relyingParty, userHandleOf, webauthn } from './webauthn.ts';

/** Routes for a person's own passkeys. Nobody else can see, add or remove them, not even an owner. */
export function passkeyRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { log } = deps.service;
  app.get('/passkeys', (request) => presentPasskeys(deps, signedInOf(request)));

  app.post('/passkeys/options', async (request) => {
    const { userId, email } = signedInOf(request);
    const known = await listPasskeys(deps.db, userId);
    const { generateRegistrationOptions } = await webauthn();
    return generateRegistrationOptions({
      rpName: 'svc-asr',
      rpID: relyingParty(deps).id,
      userID: userHandleOf(userId),
      userName: email,
      userDisplayName: email,
      challenge: Buffer.from(await issueChallenge(deps.signInDb, userId), 'base64url'),
      timeout: CONSOLE_LIMITS.passkeyChallengeLifetimeMs,
      attestationType: 'none',
      supportedAlgorithmIDs: ALGORITHMS,
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
      // A discoverable credential with user verification: fingerprint, face or PIN.
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  });

  app.post<{ Body: AddPasskey }>(
    '/passkeys',
    { schema: { body: AddPasskey } },
    async (request, reply) => {
      const signedIn = signedInOf(request);
      const { userId, email, language } = signedIn;
      const { verifyRegistrationResponse } = await webauthn();
      const { registrationInfo } = await refuseUnless(
        verifyRegistrationResponse({
          response: request.body.credential,
          expectedChallenge: (challenge) => spendChallenge(deps.signInDb, { challenge, userId }),
          expectedOrigin: relyingParty(deps).origin,
          expectedRPID: relyingParty(deps).id,
          requireUserVerification: true,
          supportedAlgorithmIDs: ALGORITHMS,
        }),
      );
      if (registrationInfo === undefined) throw new ConsoleError('passkey_refused');
      const { credential } = registrationInfo;
      const passkey = {
        userId,
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: request.body.credential.response.transports ?? [],
        name: request.body.name.trim(),
        limit: CONSOLE_LIMITS.passkeys,
      };
      const outcome = await audited(deps.signInDb, request, (db) => insertPasskey(db, passkey));
      if (outcome === 'limit_reached') throw new ConsoleError('passkey_limit_reached');
      if (outcome === 'known') throw new ConsoleError('passkey_refused');
      // The owner gets an email, so that nobody can add a passkey in a borrowed session unnoticed.
      deps.outbox?.enqueue(passkeyEmail({ to: email, language, publicUrl: deps.publicUrl }));
      log.info({ member_id: userId }, 'A passkey was added.');
      void reply.code(201);
      return presentPasskeys(deps, signedIn);
    },
  );

  app.post<IdParam>('/passkeys/:id/remove', { schema: { params: idParam } }, async (request) => {
    const signedIn = signedInOf(request);
    const passkey = { userId: signedIn.userId, id: request.params.id };
    const removed = await audited(deps.db, request, (db) => removePasskey(db, passkey));
    if (!removed) throw new ConsoleError('not_found');
    log.info({ member_id: signedIn.userId }, 'A passkey was removed.');
    return presentPasskeys(deps, signedIn);
  });
}

async function presentPasskeys(deps: ConsoleDeps, { userId }: SignedIn): Promise<PasskeyList> {
  const passkeys = await listPasskeys(deps.db, userId);
  return { data: passkeys.map(presentPasskey) };
}

function presentPasskey(passkey: PasskeyRecord): Passkey {
  return {
    id: passkey.id,
    name: passkey.name,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  };
}
