import { useState } from 'react';
import type { Passkey, PasskeyList } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { formatDate, formatDateTime } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { canUsePasskeys, withConfirmation } from '../../app/passkeys.ts';
import { useLoad } from '../../app/use-load.ts';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { Button } from '../../design/controls.tsx';
import { Loaded, Notice } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { AddPasskeyDialog } from './add-passkey-dialog.tsx';

type Step = { at: 'list' } | { at: 'add'; list: PasskeyList } | { at: 'remove'; passkey: Passkey };

/** The signed-in member's own passkeys. Owners can't see those of others. */
export function PasskeysSection({ operator }: { operator: boolean }) {
  const texts = useTexts();
  const { load, reload, set } = useLoad<PasskeyList>('/passkeys');
  const [step, setStep] = useState<Step>({ at: 'list' });
  const back = () => setStep({ at: 'list' });
  function changed(list: PasskeyList): void {
    set(list);
    back();
  }
  return (
    <Card title={texts.passkeys.title} lead={texts.passkeys.lead}>
      <Loaded load={load} onRetry={() => void reload()}>
        {(list) => (
          <>
            <PasskeyRows
              passkeys={list.data}
              onRemove={(passkey) => setStep({ at: 'remove', passkey })}
            />
            {canUsePasskeys() ? (
              <Button className="mt-4" onClick={() => setStep({ at: 'add', list })}>
                {texts.passkeys.add}
              </Button>
            ) : (
              <Notice tone="info">{texts.passkeys.unsupported}</Notice>
            )}
          </>
        )}
      </Loaded>
      {step.at === 'add' && (
        <AddPasskeyDialog list={step.list} operator={operator} onClose={back} onAdded={changed} />
      )}
      {step.at === 'remove' && (
        <ConfirmDialog
          title={texts.passkeys.removeTitle(step.passkey.name)}
          lead={texts.passkeys.removeLead}
          action={texts.settings.remove}
          kind="destroy"
          onConfirm={async () => {
            const path = `/passkeys/${step.passkey.id}/remove`;
            changed(await withConfirmation(() => post<PasskeyList>(path)));
          }}
          onClose={back}
        />
      )}
    </Card>
  );
}

function PasskeyRows(props: { passkeys: Passkey[]; onRemove: (passkey: Passkey) => void }) {
  const texts = useTexts();
  const { language } = useLanguage();
  if (props.passkeys.length === 0) {
    return <p className="text-sm text-ink-3">{texts.passkeys.empty}</p>;
  }
  return (
    <ul className="divide-y divide-line">
      {props.passkeys.map((passkey) => (
        <li key={passkey.id} className="flex items-center justify-between gap-4 py-3">
          <div className="min-w-0">
            <p className="wrap-anywhere">{passkey.name}</p>
            <p className="text-xs text-ink-3">
              {texts.passkeys.added(formatDate(passkey.created_at, language))} ·{' '}
              {passkey.last_used_at === null
                ? texts.passkeys.unused
                : texts.passkeys.used(formatDateTime(passkey.last_used_at, language))}
            </p>
          </div>
          <Button kind="quiet" onClick={() => props.onRemove(passkey)}>
            {texts.settings.remove}
            <span className="sr-only">{passkey.name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
