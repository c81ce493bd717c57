import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import { TextField } from '../design/controls.tsx';

/** The required name of a key or passkey. Reports a missing name once the form was `checked`. */
export function NameField(props: {
  texts: { readonly name: string; readonly nameHint: string; readonly nameMissing: string };
  checked: boolean;
  value: string;
  onChange: (value: string) => void;
}) {
  const { texts, checked, value, onChange } = props;
  return (
    <TextField
      label={texts.name}
      hint={texts.nameHint}
      error={checked && value.trim() === '' ? texts.nameMissing : null}
      autoFocus
      maxLength={CONSOLE_LIMITS.nameLength}
      value={value}
      onChange={onChange}
    />
  );
}
