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
import type { SignedIn } from './browser-sessions.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { signedInOf } from './guard.ts';
import { idParam, type IdParam } from './id-param.ts';
import { passkeyLetter } from './letters.ts';
import { issueChallenge, spendChallenge } from './passkey-challenges.ts';
import { ALGORITHMS, refuseUnless, relyingParty, userHandleOf, webauthn } from './webauthn.ts';

/** A person's own passkeys: nobody else's can be seen, added or removed, by an owner neither. */
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
      challenge: Buffer.from(await issueChallenge(deps.db, userId), 'base64url'),
      timeout: CONSOLE_LIMITS.passkeyChallengeLifetimeMs,
      attestationType: 'none',
      supportedAlgorithmIDs: ALGORITHMS,
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
      // Found by the device without an address, and opened by its owner's finger, face or number alone.
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
          expectedChallenge: (challenge) => spendChallenge(deps.db, { challenge, userId }),
          expectedOrigin: relyingParty(deps).origin,
          expectedRPID: relyingParty(deps).id,
          requireUserVerification: true,
          supportedAlgorithmIDs: ALGORITHMS,
        }),
      );
      if (registrationInfo === undefined) throw new ConsoleError('passkey_refused');
      const { credential } = registrationInfo;
      const outcome = await insertPasskey(deps.db, {
        userId,
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: request.body.credential.response.transports ?? [],
        name: request.body.name.trim(),
        limit: CONSOLE_LIMITS.passkeys,
      });
      if (outcome === 'limit_reached') throw new ConsoleError('passkey_limit_reached');
      if (outcome === 'known') throw new ConsoleError('passkey_refused');
      // Whoever borrowed an open session must not leave a way back that its owner does not hear of.
      deps.outbox?.post(passkeyLetter({ to: email, language, publicUrl: deps.publicUrl }));
      log.info({ member_id: userId }, 'A passkey was added.');
      void reply.code(201);
      return presentPasskeys(deps, signedIn);
    },
  );

  app.post<IdParam>('/passkeys/:id/remove', { schema: { params: idParam } }, async (request) => {
    const signedIn = signedInOf(request);
    const passkey = { userId: signedIn.userId, id: request.params.id };
    if (!(await removePasskey(deps.db, passkey))) throw new ConsoleError('not_found');
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
