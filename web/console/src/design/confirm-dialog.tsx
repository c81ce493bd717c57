import { useState, type ReactNode } from 'react';
import { useTexts } from '../app/language.tsx';
import { useAction } from '../app/use-action.ts';
import { Button, TextField } from './controls.tsx';
import { ErrorNotice } from './feedback.tsx';
import { Dialog } from './surfaces.tsx';

/** Asks for confirmation. The title has the focus first, so that Enter is harmless. Can ask for a text to be typed. */
export function ConfirmDialog(props: {
  title: string;
  lead: ReactNode;
  /** The action is available once this was typed. */
  typed?: { readonly label: string; readonly expected: string };
  action: string;
  kind: 'primary' | 'destroy';
  onConfirm: () => Promise<void>;
  onClose: () => void;
}) {
  const texts = useTexts();
  const confirm = useAction(props.onConfirm);
  const [typed, setTyped] = useState('');
  const isTyped = props.typed === undefined || typed.trim() === props.typed.expected;
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div className="grid gap-2 text-sm text-ink-2">{props.lead}</div>
      {props.typed !== undefined && (
        <TextField
          label={props.typed.label}
          className="font-mono"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={20}
          value={typed}
          onChange={setTyped}
        />
      )}
      <ErrorNotice error={confirm.error} />
      <div className="dialog-buttons">
        <Button onClick={props.onClose}>{texts.common.cancel}</Button>
        <Button
          kind={props.kind}
          busy={confirm.busy}
          disabled={!isTyped}
          onClick={() => confirm.run()}
        >
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}
