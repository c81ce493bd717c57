import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import { TextField } from '../../../design/controls.tsx';
import { useOperatorTexts } from '../../../texts/operator.ts';
import { parseWhole } from '../../../app/parse-whole.ts';

/** The amount of credit to grant, as it was typed. */
export function MinutesField(props: {
  hasHint?: boolean;
  value: string;
  onChange: (text: string) => void;
}) {
  const texts = useOperatorTexts();
  return (
    <TextField
      label={texts.minutes}
      {...(props.hasHint === true ? { hint: texts.minutesHint } : {})}
      type="number"
      inputMode="numeric"
      min={1}
      max={CONSOLE_LIMITS.approvalMinutes}
      value={props.value}
      onChange={props.onChange}
    />
  );
}

/** Returns the minutes of such a field, or null if they are not within the limits. */
export function parseMinutes(text: string): number | null {
  return parseWhole(text, CONSOLE_LIMITS.approvalMinutes);
}
