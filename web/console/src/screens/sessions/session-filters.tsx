import { useState, type FormEvent, type ReactNode } from 'react';
import { OUTCOME_FILTERS } from '@svc-asr/protocol/console/outcome.ts';
import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import { dayOf, describeDay, startOfDay } from '../../app/filter-day.ts';
import { zoneName } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link, navigate } from '../../app/router.tsx';
import { UUID } from '../../app/uuid.ts';
import { Button, Field, TextField } from '../../design/controls.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';

export const FILTERS = ['from', 'to', 'model', 'status', 'key', 'origin', 'id'] as const;
type Filter = (typeof FILTERS)[number];
type Key = { readonly id: string; readonly name: string };

/** Says what each filter is set to. */
export function useDescribedFilter(
  keys: readonly Key[],
): (filter: Filter, value: string) => string {
  const texts = useSessionTexts();
  const common = useTexts();
  const { language } = useLanguage();
  return (filter, value) => {
    switch (filter) {
      case 'from':
      case 'to': {
        const { day, zone } = describeDay(value, language);
        return texts.chip(texts[filter](zone), day);
      }
      case 'model':
        return texts.chip(texts.model, labelOf(common.common.models, value));
      case 'status':
        return texts.chip(texts.status, labelOf(common.status, value));
      case 'key':
        return texts.chip(texts.key, value === 'none' ? texts.playground : nameOf(value, keys));
      case 'origin':
        return texts.chip(texts.origin, value);
      case 'id':
        return texts.chip(texts.id, value);
    }
  };
}

function labelOf(labels: Readonly<Record<string, string>>, value: string): string {
  return labels[value] ?? value;
}

function nameOf(id: string, keys: readonly Key[]): string {
  return keys.find((key) => key.id === id)?.name || `${id}…`;
}

/** The filters of the list. They live in the address, so a filtered list can be shared and bookmarked. */
export function SessionFilters(props: { search: URLSearchParams; keys: readonly Key[] }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const zone = zoneName(language);
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
      <div className="grid items-start gap-4 sm:grid-cols-2 xl:grid-cols-4">
        <TextField
          label={texts.from(zone)}
          type="date"
          value={values.from}
          onChange={set('from')}
        />
        <TextField
          label={texts.to(zone)}
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
          placeholder="https://example.com"
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
    from: dayOf(value('from')),
    to: dayOf(value('to')),
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
    if (value === '') continue;
    if (filter === 'from' || filter === 'to') search.set(filter, startOfDay(value));
    else search.set(filter, filter === 'id' ? value.toLowerCase() : value);
  }
  return search.size === 0 ? '' : `?${search}`;
}
