import {
  AddPasskey,
  CONSOLE_LIMITS,
  EnrolmentCode,
  type Passkey,
  type PasskeyList,
} from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import {
  addPasskey,
  findPasskeyChangeProblem,
  listPasskeys,
  removePasskey,
  type Passkey as PasskeyRecord,
} from '../../accounts/people/passkeys.ts';
import { hashEnrolmentCode } from '../../accounts/people/enrolment-code.ts';
import { audited, type SignedInBrowser, signedInOf } from '../request/guard.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { idParam, type IdParam } from '../request/params.ts';
import {
  ALGORITHMS,
  issueChallenge,
  refuseUnless,
  relyingParty,
  spendChallenge,
  userHandleOf,
  webauthn,
} from './webauthn.ts';

/**
 * Routes for a person's own passkeys. Nobody else can see, add or remove them, not even an owner. A person who has a
 * passkey must have used one recently. An operator's first needs a code from svc-admin.
 */
export function passkeyRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { log } = deps.service;
  app.get('/passkeys', (request) => presentPasskeys(deps, signedInOf(request)));

  app.post<{ Body: EnrolmentCode }>(
    '/passkeys/options',
    { schema: { body: EnrolmentCode } },
    async (request) => {
      const { userId, email, token } = signedInOf(request);
      const change = { token, enrolmentCodeHash: codeHashOf(request.body) };
      const problem = await audited(deps.signInDb, request, (db) =>
        findPasskeyChangeProblem(db, change),
      );
      if (problem !== null) throw new ConsoleError(problem);
      return registrationOptions(deps, { userId, email });
    },
  );

  app.post<{ Body: AddPasskey }>(
    '/passkeys',
    { schema: { body: AddPasskey } },
    async (request, reply) => {
      const signedIn = signedInOf(request);
      const credential = await verifyNewPasskey(deps, {
        userId: signedIn.userId,
        response: request.body.credential,
      });
      const passkey = {
        token: signedIn.token,
        enrolmentCodeHash: codeHashOf(request.body),
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: request.body.credential.response.transports ?? [],
        name: request.body.name.trim(),
        limit: CONSOLE_LIMITS.passkeys,
      };
      const outcome = await audited(deps.signInDb, request, (db) => addPasskey(db, passkey));
      if (outcome !== 'added') throw new ConsoleError(outcome);
      log.info({ member_id: signedIn.userId }, 'A passkey was added.');
      void reply.code(201);
      return presentPasskeys(deps, signedIn);
    },
  );

  app.post<IdParam>('/passkeys/:id/remove', { schema: { params: idParam } }, async (request) => {
    const signedIn = signedInOf(request);
    const passkey = { token: signedIn.token, id: request.params.id };
    const outcome = await audited(deps.db, request, (db) => removePasskey(db, passkey));
    if (outcome !== 'removed') throw new ConsoleError(outcome);
    log.info({ member_id: signedIn.userId }, 'A passkey was removed.');
    return presentPasskeys(deps, signedIn);
  });
}

function codeHashOf({ enrolment_code: code }: EnrolmentCode): Buffer | null {
  return code === undefined ? null : hashEnrolmentCode(code);
}

async function registrationOptions(
  deps: ConsoleDeps,
  { userId, email }: { userId: string; email: string },
) {
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
}

async function verifyNewPasskey(
  deps: ConsoleDeps,
  { userId, response }: { userId: string; response: AddPasskey['credential'] },
) {
  const { verifyRegistrationResponse } = await webauthn();
  const { registrationInfo } = await refuseUnless(
    verifyRegistrationResponse({
      response,
      expectedChallenge: (challenge) => spendChallenge(deps.signInDb, { challenge, userId }),
      expectedOrigin: relyingParty(deps).origin,
      expectedRPID: relyingParty(deps).id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  );
  if (registrationInfo === undefined) throw new ConsoleError('passkey_refused');
  return registrationInfo.credential;
}

async function presentPasskeys(
  deps: ConsoleDeps,
  { userId, token }: SignedInBrowser,
): Promise<PasskeyList> {
  const passkeys = await listPasskeys(deps.db, userId);
  const problem = await findPasskeyChangeProblem(deps.db, { token, enrolmentCodeHash: null });
  return {
    data: passkeys.map(presentPasskey),
    needs_enrolment_code: problem === 'enrolment_required',
  };
}

function presentPasskey(passkey: PasskeyRecord): Passkey {
  return {
    id: passkey.id,
    name: passkey.name,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  };
}
