import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import type { Me } from '@svc-asr/protocol/console.ts';
import { ErrorNotice } from '../design/feedback.tsx';
import { Logo } from '../design/icons.tsx';
import { InvitationsScreen } from '../screens/invitations-screen.tsx';
import { KeysScreen } from '../screens/keys/keys-screen.tsx';
import { NotFoundScreen } from '../screens/not-found-screen.tsx';
import { OverviewScreen } from '../screens/overview/overview-screen.tsx';
import { SignInScreen } from '../screens/sign-in-screen.tsx';
import { ConsoleApiError } from './api.ts';
import { useLanguage, useTexts } from './language.tsx';
import { navigate, usePath } from './router.tsx';
import { Shell } from './shell.tsx';
import { useLoad } from './use-load.ts';

// Rarely visited screens load on demand.
const PlaygroundScreen = lazy(() => import('../screens/playground/playground-screen.tsx'));
const SettingsScreen = lazy(() => import('../screens/settings/settings-screen.tsx'));
const ActivityScreen = lazy(() => import('../screens/activity-screen.tsx'));
const OperatorScreen = lazy(() => import('../screens/operator-screen.tsx'));

export function App() {
  const { load, reload } = useLoad<Me>('/me');
  const { choose } = useLanguage();
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
      if (load.error instanceof ConsoleApiError && load.error.code === 'not_signed_in') {
        return <SignInScreen onSignedIn={() => void reload().then(() => navigate('/app'))} />;
      }
      return (
        <div className="mx-auto grid max-w-md gap-6 p-6 pt-16">
          <Logo />
          <ErrorNotice error={load.error} onRetry={() => void reload()} />
        </div>
      );
    case 'ready':
      return (
        <Shell me={load.data} onChanged={() => void reload()}>
          <Suspense fallback={<div className="skeleton h-40" />}>
            <Screen key={load.data.account?.id} me={load.data} onChanged={reload} />
          </Suspense>
        </Shell>
      );
  }
}

function Screen({ me, onChanged }: { me: Me; onChanged: () => Promise<void> }): ReactNode {
  const path = usePath();
  async function leaveAccount(): Promise<void> {
    await onChanged();
    navigate('/app');
  }
  if (path === '/app/waitlist' && me.operator) return <OperatorScreen />;
  if (me.account === null || path === '/app/invitations') {
    return <InvitationsScreen me={me} onChanged={onChanged} />;
  }
  if (path === '/app') return <OverviewScreen />;
  if (path === '/app/keys') return <KeysScreen me={me} />;
  if (path === '/app/playground') return <PlaygroundScreen />;
  if (path === '/app/settings')
    return <SettingsScreen me={me} onAccountLeft={() => void leaveAccount()} />;
  if (path === '/app/activity' && me.account.role === 'owner') return <ActivityScreen />;
  if (path === '/app/sign-in') return <OverviewScreen />;
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
