import { CONSOLE_LIMITS } from '@svc-asr/protocol/console.ts';
import type { Queryable } from '../platform/db.ts';
import { hashToken, newToken } from './tokens.ts';

/** A token for a device to sign, for this person's new passkey or, with null, for a sign-in. */
export async function issueChallenge(db: Queryable, userId: string | null): Promise<string> {
  const challenge = newToken();
  await db.query('delete from passkey_challenges where expires_at <= clock_timestamp()');
  await db.query(
    `insert into passkey_challenges (challenge_hash, user_id, expires_at)
      values ($1, $2, clock_timestamp() + $3 * interval '1 ms')`,
    [hashToken(challenge), userId, CONSOLE_LIMITS.passkeyChallengeLifetimeMs],
  );
  return challenge;
}

/** Returns true once, and only for the person that the challenge was issued for. */
export async function spendChallenge(
  db: Queryable,
  input: { challenge: string; userId: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from passkey_challenges
      where challenge_hash = $1 and user_id is not distinct from $2
        and expires_at > clock_timestamp()`,
    [hashToken(input.challenge), input.userId],
  );
  return rowCount === 1;
}
