import { countWordErrors, normalise, withoutTilde } from '@svc-asr/protocol/word-errors.ts';
import { Field } from '../../../design/controls.tsx';
import { usePlaygroundTexts } from '../../../texts/playground.ts';

const CHARACTERS_MAX = 5_000;

/** What was really said. It never leaves this page. */
export function ReferenceField(props: { text: string; onChange: (text: string) => void }) {
  const texts = usePlaygroundTexts();
  return (
    <Field label={texts.reference} hint={texts.referenceHint}>
      {(control) => (
        <textarea
          {...control}
          rows={2}
          spellCheck={false}
          autoComplete="off"
          maxLength={CHARACTERS_MAX}
          className="input min-h-16 text-sm"
          value={props.text}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** The word error rate of a transcript, with and without tildes. */
export function WordErrorRate(props: { reference: string; transcript: string }) {
  const texts = usePlaygroundTexts();
  const { words, errors } = countWordErrors(props.reference, props.transcript);
  if (words === 0) return null;
  const folded = countWordErrors(
    withoutTilde(normalise(props.reference)),
    withoutTilde(normalise(props.transcript)),
  );
  return (
    <p data-testid="word-errors" className="text-sm text-ink-2">
      <span className="font-semibold text-ink">{texts.wer(percent(errors, words))}</span>{' '}
      {texts.werCount(errors, words)} {texts.werFolded(percent(folded.errors, folded.words))}
    </p>
  );
}

function percent(errors: number, words: number): string {
  return (Math.round((1_000 * errors) / words) / 10).toString();
}
