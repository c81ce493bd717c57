import { KEYTERMS, readKeyterms } from '@svc-asr/protocol/keyterms.ts';
import { useTexts } from '../../app/language.tsx';
import { Field } from '../../design/controls.tsx';
import { Notice } from '../../design/feedback.tsx';
import { splitKeyterms, type KeytermsAnswer } from './keyterms.ts';

/** Names to listen for, and what the service made of the list of the last run. */
export function KeytermsField(props: {
  text: string;
  disabled: boolean;
  /** False after a stream of this model said that it ignores keyterms. Null: not known yet. */
  isSupported: boolean | null;
  answer: KeytermsAnswer | null;
  onChange: (text: string) => void;
}) {
  const texts = useTexts().playground.keyterms;
  const terms = splitKeyterms(props.text);
  const { refused } = readKeyterms(terms, true);
  const isTooLong = refused.some(({ reason }) => reason === 'too_many' || reason === 'too_long');
  const isUnsupported = props.isSupported === false;
  return (
    <div className="grid gap-2">
      <Field
        label={texts.label}
        hint={isUnsupported ? texts.unsupported : texts.hint}
        error={isTooLong && !isUnsupported ? texts.tooMany : null}
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            spellCheck={false}
            autoComplete="off"
            className="input min-h-20 text-sm disabled:opacity-60"
            disabled={props.disabled || isUnsupported}
            value={props.text}
            onChange={(event) => props.onChange(event.target.value)}
          />
        )}
      </Field>
      {terms.length > 0 && !isUnsupported && (
        <p className="text-xs text-ink-3 tabular-nums">
          {texts.count(terms.length, KEYTERMS.termsMax)}
        </p>
      )}
      {!isUnsupported && <Answer answer={props.answer} />}
    </div>
  );
}

function Answer({ answer }: { answer: KeytermsAnswer | null }) {
  const texts = useTexts().playground.keyterms;
  if (answer === null) return null;
  const { taken, refused, rest } = answer;
  return (
    <Notice tone={refused.length + rest > 0 ? 'warn' : 'good'}>
      <div className="grid gap-1 text-sm wrap-anywhere">
        <p>{taken.length === 0 ? texts.noneTaken : texts.taken(taken.join(', '))}</p>
        {refused.length > 0 && (
          <ul className="grid gap-0.5">
            {refused.map(({ index, term, reason }) => (
              <li key={index}>{texts.refused(term, texts.reasons[reason])}</li>
            ))}
          </ul>
        )}
        {rest > 0 && <p>{texts.rest(rest)}</p>}
      </div>
    </Notice>
  );
}
