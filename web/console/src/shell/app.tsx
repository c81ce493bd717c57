import { useEffect, type ReactNode } from 'react';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import { ErrorNotice } from '../design/feedback.tsx';
import { Logo } from '../design/icons.tsx';
import { InvitationsScreen } from '../screens/invitations-screen.tsx';
import { KeysScreen } from '../screens/keys/keys-screen.tsx';
import { NotFoundScreen } from '../screens/not-found-screen.tsx';
import { OverviewScreen } from '../screens/overview/overview-screen.tsx';
import { SignIn } from '../screens/sign-in-screen.tsx';
import { isSignedOut } from '../app/api.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { useLanguage, useTexts } from '../app/language.tsx';
import { lazyScreen } from '../design/lazy-screen.tsx';
import { navigate, usePath } from '../app/router.tsx';
import { Shell } from './shell.tsx';
import { SignInAgain } from './sign-in-again.tsx';
import { useLoad } from '../app/use-load.ts';

// Rarely visited screens load on demand.
const PlaygroundScreen = lazyScreen(() => import('../screens/playground/playground-screen.tsx'));
const SessionsScreen = lazyScreen(() => import('../screens/sessions/sessions-screen.tsx'));
const SessionScreen = lazyScreen(() => import('../screens/sessions/session-screen.tsx'));
const UsageScreen = lazyScreen(() => import('../screens/sessions/usage-screen.tsx'));
const LogScreen = lazyScreen(() => import('../screens/sessions/log-screen.tsx'));
const SettingsScreen = lazyScreen(() => import('../screens/settings/settings-screen.tsx'));
const TeamScreen = lazyScreen(() => import('../screens/settings/team-screen.tsx'));
const ActivityScreen = lazyScreen(() => import('../screens/activity/activity-screen.tsx'));
const CreditScreen = lazyScreen(() => import('../screens/sessions/credit-screen.tsx'));
const OperatorArea = lazyScreen(() => import('../screens/operator/operator-area.tsx'));

export function App() {
  const { load, reload, refresh } = useLoad<Me>('/me', { signIn: 'fail' });
  const { choose } = useLanguage();
  const path = usePath();
  const me = load.state === 'ready' ? load.data : null;
  const preferred = me?.language;
  useEffect(() => {
    if (preferred !== undefined) choose(preferred);
    // Follows only the server's value. A choice made by the user is saved on the server first.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [preferred]);

  switch (load.state) {
    case 'loading':
      return <Opening />;
    case 'error':
      // The address stays, so a link into the console works after the sign-in.
      if (isSignedOut(load.error)) return <SignIn onSignedIn={reload} />;
      return (
        <div className="mx-auto grid max-w-md gap-6 p-6 pt-16">
          <Logo />
          <ErrorNotice error={load.error} onRetry={() => void reload()} />
        </div>
      );
    case 'ready':
      return (
        <>
          <Shell me={load.data} onChanged={refresh}>
            <ErrorBoundary key={`${load.data.account?.id} ${path}`}>
              <Screen path={path} me={load.data} onChanged={refresh} />
            </ErrorBoundary>
          </Shell>
          <SignInAgain me={load.data} />
        </>
      );
  }
}

function Screen(props: { path: string; me: Me; onChanged: () => Promise<void> }): ReactNode {
  const { path, me, onChanged } = props;
  async function leaveAccount(): Promise<void> {
    await onChanged();
    navigate('/app');
  }
  if (me.operator && /^\/app\/operator(?:\/|$)/.test(path)) {
    return <OperatorArea me={me} onChanged={onChanged} />;
  }
  if (me.account === null || path === '/app/invitations') {
    return <InvitationsScreen me={me} onChanged={onChanged} />;
  }
  if (path === '/app') return <OverviewScreen me={me} />;
  if (path === '/app/sessions') return <SessionsScreen />;
  if (path === '/app/usage') return <UsageScreen me={me} />;
  if (path === '/app/log') return <LogScreen />;
  if (path === '/app/credit') return <CreditScreen me={me} />;
  if (path === '/app/team') return <TeamScreen me={me} onAccountLeft={() => void leaveAccount()} />;
  const session = /^\/app\/sessions\/([0-9a-f-]{36})$/.exec(path)?.[1];
  if (session !== undefined) return <SessionScreen id={session} />;
  if (path === '/app/keys') return <KeysScreen me={me} />;
  if (path === '/app/playground') return <PlaygroundScreen me={me} />;
  if (path === '/app/settings')
    return <SettingsScreen me={me} onAccountLeft={() => void leaveAccount()} />;
  if (path === '/app/activity' && me.account.role === 'owner') return <ActivityScreen />;
  if (path === '/app/sign-in') return <OverviewScreen me={me} />;
  return <NotFoundScreen />;
}

function Opening() {
  const texts = useTexts();
  return (
    <div role="status" className="grid min-h-dvh place-items-center">
      <Logo />
      <span className="sr-only">{texts.common.loading}</span>
    </div>
  );
}
