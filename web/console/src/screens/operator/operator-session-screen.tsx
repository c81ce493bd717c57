import type { OperatorSessionReport } from '@svc-asr/protocol/console/operator.ts';
import { useLoad } from '../../app/use-load.ts';
import { useOperatorTexts } from '../../texts/operator.ts';
import { SessionPage } from '../sessions/session-screen.tsx';
import { OPERATOR_PATHS } from './paths.ts';

/** A session of any account, as its customer sees it. */
export function OperatorSessionScreen({ id }: { id: string }) {
  const texts = useOperatorTexts();
  const { load, reload } = useLoad<OperatorSessionReport>(`/operator/sessions/${id}`);
  const { accounts } = OPERATOR_PATHS;
  const back =
    load.state === 'ready'
      ? { href: `${accounts}/${load.data.account_id}`, label: load.data.account_name }
      : { href: accounts, label: texts.accounts.back };
  return <SessionPage load={load} back={back} hasList={false} onRetry={() => void reload()} />;
}
