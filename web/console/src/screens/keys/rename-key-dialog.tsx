import { useState, type FormEvent } from 'react';
import type { ConsoleKey } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { Button } from '../../design/controls.tsx';
import { ErrorNotice } from '../../design/feedback.tsx';
import { Dialog } from '../../design/surfaces.tsx';
import { NameField } from '../name-field.tsx';

export function RenameKeyDialog(props: {
  apiKey: ConsoleKey;
  onClose: () => void;
  onRenamed: () => Promise<void>;
}) {
  const texts = useTexts();
  const [name, setName] = useState(props.apiKey.name);
  const [checked, setChecked] = useState(false);
  const rename = useAction(async () => {
    await post(`/keys/${props.apiKey.id}/rename`, { name: name.trim() });
    await props.onRenamed();
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    setChecked(true);
    if (name.trim() !== '') rename.run();
  }
  return (
    <Dialog title={texts.keys.rename} onClose={props.onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <p className="text-sm text-ink-2">
          <code>{props.apiKey.hint}…</code>
        </p>
        <NameField texts={texts.keys} checked={checked} value={name} onChange={setName} />
        <ErrorNotice error={rename.error} />
        <div className="dialog-buttons">
          <Button onClick={props.onClose}>{texts.common.cancel}</Button>
          <Button kind="primary" type="submit" busy={rename.busy}>
            {texts.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
