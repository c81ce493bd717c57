import type { Me } from '@svc-asr/protocol/console/console.ts';
import { SignIn } from '../screens/sign-in-screen.tsx';
import { get, post } from '../app/api.ts';
import { signedInAgain, useConnection } from '../app/connection.ts';

/** Opens sign-in over the page when the session has ended. Afterwards the page continues where it was. */
export function SignInAgain({ me }: { me: Me }) {
  const { signedOut } = useConnection();
  if (!signedOut) return null;
  return <SignIn over email={me.email} onSignedIn={() => resume(me)} />;
}

/** The waiting requests belong to one person in one account. Anyone else starts with a new page. */
async function resume(before: Me): Promise<void> {
  const me = await get<Me>('/me', { signIn: 'fail' });
  const accountId = before.account?.id;
  const isMember = me.accounts.some(({ id }) => id === accountId);
  if (me.email !== before.email || (accountId !== undefined && !isMember)) {
    location.reload();
    return;
  }
  if (accountId !== undefined && me.account?.id !== accountId) {
    await post('/accounts/switch', { account_id: accountId }, { signIn: 'fail' });
  }
  signedInAgain();
}
