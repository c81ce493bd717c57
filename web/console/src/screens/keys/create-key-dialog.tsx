import { useState, type FormEvent } from 'react';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import type { CreateKey, NewKey } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { Button, Field } from '../../design/controls.tsx';
import { ErrorNotice } from '../../design/feedback.tsx';
import { Dialog } from '../../design/surfaces.tsx';
import { NameField } from '../name-field.tsx';

const EXPIRIES = ['none', 'd30', 'd90', 'd365'] as const;
type Expiry = (typeof EXPIRIES)[number];
const EXPIRY_DAYS = { none: null, d30: 30, d90: 90, d365: 365 } as const;

export function CreateKeyDialog(props: { onClose: () => void; onCreated: (key: NewKey) => void }) {
  const texts = useTexts();
  const [name, setName] = useState('');
  const [models, setModels] = useState<readonly ModelId[]>(MODEL_IDS);
  const [expiry, setExpiry] = useState<Expiry>('none');
  const [checked, setChecked] = useState(false);
  const create = useAction(async (body: CreateKey) => {
    props.onCreated(await post<NewKey>('/keys', body));
  });
  const nameMissing = name.trim() === '';
  function submit(event: FormEvent): void {
    event.preventDefault();
    setChecked(true);
    if (nameMissing || models.length === 0) return;
    create.run({ name: name.trim(), models: [...models], expires_in_days: EXPIRY_DAYS[expiry] });
  }
  return (
    <Dialog title={texts.keys.create} onClose={props.onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <NameField texts={texts.keys} checked={checked} value={name} onChange={setName} />
        <ModelChoice
          chosen={models}
          missing={checked && models.length === 0}
          onChange={setModels}
        />
        <Field label={texts.keys.expiry}>
          {(control) => (
            <select
              {...control}
              className="input select"
              value={expiry}
              onChange={(event) =>
                setExpiry(EXPIRIES.find((known) => known === event.target.value) ?? 'none')
              }
            >
              {EXPIRIES.map((value) => (
                <option key={value} value={value}>
                  {texts.keys.expiries[value]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <ErrorNotice error={create.error} />
        <div className="dialog-buttons">
          <Button onClick={props.onClose}>{texts.common.cancel}</Button>
          <Button kind="primary" type="submit" busy={create.busy}>
            {create.busy ? texts.keys.creating : texts.keys.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function ModelChoice(props: {
  chosen: readonly ModelId[];
  missing: boolean;
  onChange: (models: readonly ModelId[]) => void;
}) {
  const texts = useTexts();
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1.5 text-sm font-medium">{texts.keys.models}</legend>
      {MODEL_IDS.map((model) => (
        <label key={model} className="flex min-h-6 items-center gap-3 text-sm">
          <input
            type="checkbox"
            className="size-5 accent-accent"
            checked={props.chosen.includes(model)}
            onChange={(event) =>
              props.onChange(
                MODEL_IDS.filter((id) =>
                  id === model ? event.target.checked : props.chosen.includes(id),
                ),
              )
            }
          />
          <span>
            {texts.common.models[model]} <code className="text-xs text-ink-3">{model}</code>
          </span>
        </label>
      ))}
      {props.missing && <p className="text-xs text-danger">{texts.keys.modelsMissing}</p>}
    </fieldset>
  );
}
