import { useState, type FormEvent, type ReactNode } from 'react';
import { OUTCOME_FILTERS } from '@svc-asr/protocol/console/outcome.ts';
import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import { useTexts } from '../../app/language.tsx';
import { Link, navigate } from '../../app/router.tsx';
import { UUID } from '../../app/uuid.ts';
import { Button, Field, TextField } from '../../design/controls.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';

export const FILTERS = ['from', 'to', 'model', 'status', 'key', 'origin', 'id'] as const;
type Filter = (typeof FILTERS)[number];

/** The filters of the list. They live in the address, so a filtered list can be shared and bookmarked. */
export function SessionFilters(props: {
  search: URLSearchParams;
  keys: readonly { id: string; name: string }[];
}) {
  const texts = useSessionTexts();
  const common = useTexts();
  const [values, setValues] = useState(() => read(props.search));
  const [wrong, setWrong] = useState<'id' | 'range' | null>(null);
  function set(filter: Filter) {
    return (value: string) => setValues((now) => ({ ...now, [filter]: value }));
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    const found = findWrong(values);
    setWrong(found);
    if (found === null) navigate(`/app/sessions${write(values)}`);
  }
  const options = (pairs: readonly (readonly [string, string])[]): ReactNode => [
    <option key="" value="">
      {texts.any}
    </option>,
    ...pairs.map(([value, label]) => (
      <option key={value} value={value}>
        {label}
      </option>
    )),
  ];
  const select = (filter: Filter, label: string, choices: ReactNode) => (
    <Field label={label}>
      {(control) => (
        <select
          {...control}
          className="input select"
          value={values[filter]}
          onChange={(event) => set(filter)(event.target.value)}
        >
          {choices}
        </select>
      )}
    </Field>
  );
  const models = MODEL_IDS.map((model) => [model, common.common.models[model]] as const);
  const statuses = OUTCOME_FILTERS.map((status) => [status, common.status[status]] as const);
  const keys = props.keys.map(({ id, name }) => [id, name === '' ? `${id}…` : name] as const);
  return (
    <form onSubmit={submit} noValidate aria-label={texts.filters} className="grid gap-4">
      <div className="grid items-start gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <TextField label={texts.from} type="date" value={values.from} onChange={set('from')} />
        <TextField
          label={texts.to}
          type="date"
          value={values.to}
          error={wrong === 'range' ? texts.rangeInvalid : null}
          onChange={set('to')}
        />
        {select('model', texts.model, options(models))}
        {select('status', texts.status, options(statuses))}
        {select('key', texts.key, options([...keys, ['none', texts.playground]]))}
        <TextField
          label={texts.origin}
          hint={texts.originHint}
          value={values.origin}
          onChange={set('origin')}
        />
        <div className="sm:col-span-2">
          <TextField
            label={texts.id}
            value={values.id}
            error={wrong === 'id' ? texts.idInvalid : null}
            onChange={set('id')}
            className="font-mono"
          />
        </div>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" type="submit">
          {texts.search}
        </Button>
        {FILTERS.some((filter) => props.search.has(filter)) && (
          <Link href="/app/sessions" className="button button-quiet">
            {texts.clear}
          </Link>
        )}
      </div>
    </form>
  );
}

function findWrong({ from, to, id }: Record<Filter, string>): 'id' | 'range' | null {
  if (from !== '' && to !== '' && to < from) return 'range';
  return id.trim() === '' || UUID.test(id.trim()) ? null : 'id';
}

function read(search: URLSearchParams): Record<Filter, string> {
  const value = (filter: Filter) => search.get(filter) ?? '';
  return {
    from: value('from'),
    to: value('to'),
    model: value('model'),
    status: value('status'),
    key: value('key'),
    origin: value('origin'),
    id: value('id'),
  };
}

function write(values: Record<Filter, string>): string {
  const search = new URLSearchParams();
  for (const filter of FILTERS) {
    const value = values[filter].trim();
    if (value !== '') search.set(filter, filter === 'id' ? value.toLowerCase() : value);
  }
  return search.size === 0 ? '' : `?${search}`;
}
