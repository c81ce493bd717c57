import { useState, type FormEvent } from 'react';
import type { PasskeyList } from '@svc-asr/protocol/console/console.ts';
import { useTexts } from '../../app/language.tsx';
import { addPasskey } from '../../app/passkeys.ts';
import { useAction } from '../../app/use-action.ts';
import { Button, TextField } from '../../design/controls.tsx';
import { ErrorNotice } from '../../design/feedback.tsx';
import { Dialog } from '../../design/surfaces.tsx';
import { NameField } from '../name-field.tsx';

/** Asks for the passkey's name, and operators for their enrolment code. The server decides what is needed. */
export function AddPasskeyDialog(props: {
  list: PasskeyList;
  operator: boolean;
  onClose: () => void;
  onAdded: (list: PasskeyList) => void;
}) {
  const texts = useTexts().passkeys;
  const common = useTexts().common;
  const [name, setName] = useState('');
  const [code, setCode] = useState('');
  const [checked, setChecked] = useState(false);
  const add = useAction(async () => props.onAdded(await addPasskey(name.trim(), code.trim())));
  const codeMissing = props.list.needs_enrolment_code && code.trim() === '';
  function submit(event: FormEvent): void {
    event.preventDefault();
    setChecked(true);
    if (name.trim() !== '' && !codeMissing) add.run();
  }
  return (
    <Dialog title={texts.add} onClose={props.onClose}>
      <p className="text-sm text-ink-2">
        {texts.addLead} {props.list.data.length > 0 && texts.addConfirm}
      </p>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <NameField texts={texts} checked={checked} value={name} onChange={setName} />
        {props.operator && (
          <TextField
            label={texts.enrolmentCode}
            hint={props.list.needs_enrolment_code ? texts.enrolmentHint : texts.enrolmentOptional}
            error={checked && codeMissing ? texts.enrolmentMissing : null}
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={40}
            className="font-mono"
            value={code}
            onChange={setCode}
          />
        )}
        <ErrorNotice error={add.error} />
        <div className="dialog-buttons">
          <Button onClick={props.onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" busy={add.busy}>
            {texts.addDo}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
