import { useState, type FormEvent } from 'react';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { Button, TextField } from '../../design/controls.tsx';
import { ErrorNotice } from '../../design/feedback.tsx';
import { Card, Dialog } from '../../design/surfaces.tsx';

export function DataSection({ me, onErased }: { me: Me; onErased: () => void }) {
  const texts = useTexts();
  const [erasing, setErasing] = useState(false);
  return (
    <Card title={texts.settings.data} lead={texts.settings.dataLead}>
      <a className="button button-secondary" href="/console-api/data" download="svc-asr-data.json">
        {texts.settings.download}
      </a>
      {me.account?.role === 'owner' && (
        <div className="mt-6 border-t border-line pt-5">
          <h3 className="text-base">{texts.settings.erase}</h3>
          <p className="mt-1 mb-4 max-w-[68ch] text-sm text-ink-2">{texts.settings.eraseLead}</p>
          <Button kind="danger" onClick={() => setErasing(true)}>
            {texts.settings.erase}
          </Button>
        </div>
      )}
      {erasing && <EraseDialog me={me} onErased={onErased} onClose={() => setErasing(false)} />}
    </Card>
  );
}

function EraseDialog(props: { me: Me; onErased: () => void; onClose: () => void }) {
  const { me, onErased, onClose } = props;
  const texts = useTexts();
  const [email, setEmail] = useState('');
  const erase = useAction(async () => {
    await post('/erase', { confirm_email: email.trim() });
    onErased();
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    erase.run();
  }
  return (
    <Dialog title={texts.settings.eraseTitle} onClose={onClose}>
      <p className="text-sm text-ink-2">{texts.settings.eraseLead}</p>
      <form onSubmit={submit} className="grid gap-4">
        <TextField
          label={texts.settings.eraseConfirm}
          type="email"
          required
          value={email}
          onChange={setEmail}
        />
        <ErrorNotice error={erase.error} />
        <div className="dialog-buttons">
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="destroy"
            type="submit"
            busy={erase.busy}
            disabled={email.trim().toLowerCase() !== me.email}
          >
            {texts.settings.eraseDo}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
