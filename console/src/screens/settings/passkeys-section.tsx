import { useState, type FormEvent } from 'react';
import type { Passkey, PasskeyList } from '@svc-asr/protocol/console.ts';
import { post } from '../../app/api.ts';
import { formatDate, formatDateTime } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { addPasskey, canUsePasskeys } from '../../app/passkeys.ts';
import { useAction } from '../../app/use-action.ts';
import { useLoad } from '../../app/use-load.ts';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { Button } from '../../design/controls.tsx';
import { ErrorNotice, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, Dialog } from '../../design/surfaces.tsx';
import { NameField } from '../name-field.tsx';

type Step = { at: 'list' } | { at: 'add' } | { at: 'remove'; passkey: Passkey };

/** The signed-in member's own passkeys. Owners can't see those of others. */
export function PasskeysSection() {
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
        {({ data }) => (
          <PasskeyRows passkeys={data} onRemove={(passkey) => setStep({ at: 'remove', passkey })} />
        )}
      </Loaded>
      {canUsePasskeys() ? (
        <Button className="mt-4" onClick={() => setStep({ at: 'add' })}>
          {texts.passkeys.add}
        </Button>
      ) : (
        <Notice tone="info">{texts.passkeys.unsupported}</Notice>
      )}
      {step.at === 'add' && <AddDialog onClose={back} onAdded={changed} />}
      {step.at === 'remove' && (
        <ConfirmDialog
          title={texts.passkeys.removeTitle(step.passkey.name)}
          lead={texts.passkeys.removeLead}
          action={texts.settings.remove}
          kind="destroy"
          onConfirm={async () =>
            changed(await post<PasskeyList>(`/passkeys/${step.passkey.id}/remove`))
          }
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

function AddDialog(props: { onClose: () => void; onAdded: (list: PasskeyList) => void }) {
  const texts = useTexts();
  const [name, setName] = useState('');
  const [checked, setChecked] = useState(false);
  const add = useAction(async () => props.onAdded(await addPasskey(name.trim())));
  const nameMissing = name.trim() === '';
  function submit(event: FormEvent): void {
    event.preventDefault();
    setChecked(true);
    if (!nameMissing) add.run();
  }
  return (
    <Dialog title={texts.passkeys.add} onClose={props.onClose}>
      <p className="text-sm text-ink-2">{texts.passkeys.addLead}</p>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <NameField texts={texts.passkeys} checked={checked} value={name} onChange={setName} />
        <ErrorNotice error={add.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={props.onClose}>{texts.common.cancel}</Button>
          <Button kind="primary" type="submit" busy={add.busy}>
            {texts.passkeys.addDo}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
