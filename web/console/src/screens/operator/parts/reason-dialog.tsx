import { useState, type FormEvent, type ReactNode } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import { useTexts } from '../../../app/language.tsx';
import { withConfirmation } from '../../../app/passkeys.ts';
import { useAction } from '../../../app/use-action.ts';
import { Button, TextField } from '../../../design/controls.tsx';
import { ErrorNotice } from '../../../design/feedback.tsx';
import { Dialog } from '../../../design/surfaces.tsx';
import { useOperatorTexts } from '../../../texts/operator.ts';

/** Asks for the reason of a change, and for the passkey if the server wants it. */
export function ReasonDialog(props: {
  title: string;
  lead?: string;
  hint?: string;
  action: string;
  kind: 'primary' | 'destroy';
  /** False while another field is incomplete. */
  isReady?: boolean;
  /** More fields, above the reason. */
  children?: ReactNode;
  onConfirm: (reason: string) => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
}) {
  const common = useTexts();
  const texts = useOperatorTexts();
  const [reason, setReason] = useState('');
  const change = useAction(async () => {
    await withConfirmation(() => props.onConfirm(reason.trim()));
    props.onDone();
  });
  const isReady = props.isReady !== false && reason.trim() !== '';
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isReady) change.run();
  }
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form onSubmit={submit} noValidate className="grid gap-4">
        {props.lead !== undefined && <p className="text-sm text-ink-2">{props.lead}</p>}
        {props.children}
        <TextField
          label={texts.reason}
          hint={props.hint ?? texts.reasonHint}
          maxLength={CONSOLE_LIMITS.reasonLength}
          value={reason}
          onChange={setReason}
        />
        <ErrorNotice error={change.error} />
        <div className="dialog-buttons">
          <Button onClick={props.onClose}>{common.common.cancel}</Button>
          <Button kind={props.kind} type="submit" busy={change.busy} disabled={!isReady}>
            {props.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
