import { useTexts } from '../app/language.tsx';
import { useAction } from '../app/use-action.ts';
import { Button } from './controls.tsx';
import { ErrorNotice } from './feedback.tsx';
import { Dialog } from './surfaces.tsx';

/** Asks for confirmation. Cancel has the focus first, so that Enter is harmless. */
export function ConfirmDialog(props: {
  title: string;
  lead: string;
  action: string;
  kind: 'primary' | 'destroy';
  onConfirm: () => Promise<void>;
  onClose: () => void;
}) {
  const texts = useTexts();
  const confirm = useAction(props.onConfirm);
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p className="text-sm text-ink-2">{props.lead}</p>
      <ErrorNotice error={confirm.error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={props.onClose}>{texts.common.cancel}</Button>
        <Button kind={props.kind} busy={confirm.busy} onClick={() => confirm.run()}>
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}
