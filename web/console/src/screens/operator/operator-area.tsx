import type { ReactNode } from 'react';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import { usePath } from '../../app/router.tsx';
import { NotFoundScreen } from '../not-found-screen.tsx';
import { AccountScreen } from './account-screen.tsx';
import { AccountsScreen } from './accounts-screen.tsx';
import { AuditLogScreen } from './audit-log-screen.tsx';
import { FailuresScreen } from './failures-screen.tsx';
import { LedgerScreen } from './ledger-screen.tsx';
import { LiveScreen } from './live-screen.tsx';
import { NodesScreen } from './nodes-screen.tsx';
import { OPERATOR_PATHS, OPERATOR_PLACES, type OperatorPlace } from './paths.ts';
import { Waiting } from './operator-page.tsx';
import { OperatorSessionScreen } from './operator-session-screen.tsx';
import { RequestsScreen } from './requests-screen.tsx';
import { StartScreen } from './start-screen.tsx';
import { WaitlistScreen } from './waitlist-screen.tsx';

const SCREENS: Record<OperatorPlace, () => ReactNode> = {
  start: StartScreen,
  waitlist: WaitlistScreen,
  accounts: AccountsScreen,
  requests: RequestsScreen,
  live: LiveScreen,
  nodes: NodesScreen,
  failures: FailuresScreen,
  ledger: LedgerScreen,
  audit: AuditLogScreen,
};

/** The pages of operators, in one file that others don't load. The server refuses everyone else. */
export default function OperatorArea(props: { me: Me; onChanged: () => Promise<void> }) {
  return (
    <Waiting value={{ counts: props.me.waiting, onDecided: props.onChanged }}>
      <OperatorScreen />
    </Waiting>
  );
}

function OperatorScreen() {
  const path = usePath();
  const [, kind, id] = /^\/app\/operator\/(accounts|sessions)\/([0-9a-f-]{36})$/.exec(path) ?? [];
  if (kind === 'accounts' && id !== undefined) return <AccountScreen key={id} id={id} />;
  if (kind === 'sessions' && id !== undefined) return <OperatorSessionScreen id={id} />;
  const place = OPERATOR_PLACES.find((known) => OPERATOR_PATHS[known] === path);
  if (place === undefined) return <NotFoundScreen />;
  const Screen = SCREENS[place];
  return <Screen />;
}
