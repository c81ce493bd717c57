import { useState } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { OperatorAccount } from '@svc-asr/protocol/console/operator.ts';
import { post } from '../../app/api.ts';
import { formatAudio } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { Button, TextField } from '../../design/controls.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { MinutesField, parseMinutes } from './parts/minutes-field.tsx';
import { parseWhole } from '../../app/parse-whole.ts';
import { ReasonDialog } from './parts/reason-dialog.tsx';

type Action = 'grant' | 'concurrency' | 'status';

interface DialogProps {
  readonly account: OperatorAccount;
  readonly onDone: (sentence: string) => void;
  readonly onClose: () => void;
}

/** What an operator can change about an account. Every change has a reason. */
export function AccountActions(props: {
  account: OperatorAccount;
  onChanged: (sentence: string) => void;
}) {
  const texts = useOperatorTexts().accounts;
  const { account } = props;
  const [asking, setAsking] = useState<Action | null>(null);
  const dialog: DialogProps = {
    account,
    onDone: (sentence) => {
      setAsking(null);
      props.onChanged(sentence);
    },
    onClose: () => setAsking(null),
  };
  const isActive = account.status === 'active';
  return (
    <div className="flex gap-2 max-sm:grid max-sm:w-full max-sm:grid-cols-2 max-sm:*:first:col-span-2 max-sm:[&>button]:px-2">
      <Button kind="primary" onClick={() => setAsking('grant')}>
        {texts.grant}
      </Button>
      <Button onClick={() => setAsking('concurrency')}>{texts.concurrency}</Button>
      <Button kind={isActive ? 'danger' : 'secondary'} onClick={() => setAsking('status')}>
        {isActive ? texts.suspend : texts.resume}
      </Button>
      {asking === 'grant' && <Grant {...dialog} />}
      {asking === 'concurrency' && <Concurrency {...dialog} />}
      {asking === 'status' && (isActive ? <Suspend {...dialog} /> : <Resume {...dialog} />)}
    </div>
  );
}

function Grant({ account, onDone, onClose }: DialogProps) {
  const texts = useOperatorTexts();
  const common = useTexts();
  const [typed, setTyped] = useState('60');
  // A repeated request grants once.
  const [id] = useState(() => crypto.randomUUID());
  const minutes = parseMinutes(typed);
  return (
    <ReasonDialog
      title={texts.accounts.grantTitle(account.name)}
      action={texts.accounts.grant}
      kind="primary"
      isReady={minutes !== null}
      onConfirm={(reason) =>
        post(`/operator/accounts/${account.id}/grant`, { id, minutes, reason })
      }
      onDone={() => onDone(texts.accounts.grantDone(formatAudio((minutes ?? 0) * 60_000, common)))}
      onClose={onClose}
    >
      <MinutesField hasHint value={typed} onChange={setTyped} />
    </ReasonDialog>
  );
}

function Concurrency({ account, onDone, onClose }: DialogProps) {
  const texts = useOperatorTexts().accounts;
  const [typed, setTyped] = useState(String(account.concurrency_limit));
  const limit = parseWhole(typed, CONSOLE_LIMITS.concurrencyMax);
  return (
    <ReasonDialog
      title={texts.concurrencyTitle(account.name)}
      lead={texts.concurrencyLead}
      action={texts.save}
      kind="primary"
      isReady={limit !== null && limit !== account.concurrency_limit}
      onConfirm={(reason) =>
        post(`/operator/accounts/${account.id}/concurrency`, { limit, reason })
      }
      onDone={() => onDone(texts.concurrencyDone(limit ?? 0))}
      onClose={onClose}
    >
      <TextField
        label={texts.limit}
        type="number"
        inputMode="numeric"
        min={1}
        max={CONSOLE_LIMITS.concurrencyMax}
        value={typed}
        onChange={setTyped}
      />
    </ReasonDialog>
  );
}

function Suspend({ account, onDone, onClose }: DialogProps) {
  const texts = useOperatorTexts().accounts;
  return (
    <ReasonDialog
      title={texts.suspendTitle(account.name)}
      lead={texts.suspendLead}
      action={texts.suspendAction}
      kind="destroy"
      onConfirm={(reason) => post(`/operator/accounts/${account.id}/suspend`, { reason })}
      onDone={() => onDone(texts.suspended(account.name))}
      onClose={onClose}
    />
  );
}

function Resume({ account, onDone, onClose }: DialogProps) {
  const texts = useOperatorTexts().accounts;
  return (
    <ReasonDialog
      title={texts.resumeTitle(account.name)}
      lead={texts.resumeLead}
      action={texts.resumeAction}
      kind="primary"
      onConfirm={(reason) => post(`/operator/accounts/${account.id}/resume`, { reason })}
      onDone={() => onDone(texts.resumed(account.name))}
      onClose={onClose}
    />
  );
}
