import { Field } from '../../../design/controls.tsx';
import { navigate } from '../../../app/router.tsx';

/** Chooses which rows a list shows. The choice is in the address. */
export function StateChoice<S extends string>(props: {
  label: string;
  value: S;
  options: Readonly<Record<S, string>>;
  states: readonly S[];
  hrefOf: (state: S) => string;
}) {
  return (
    <Field label={props.label}>
      {(control) => (
        <select
          {...control}
          className="input select"
          value={props.value}
          onChange={(event) => {
            const chosen = props.states.find((state) => state === event.target.value);
            if (chosen !== undefined) navigate(props.hrefOf(chosen));
          }}
        >
          {props.states.map((state) => (
            <option key={state} value={state}>
              {props.options[state]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** The state that the address names, or the first. */
export function stateOf<S extends string>(
  search: URLSearchParams,
  name: string,
  states: readonly [S, ...S[]],
): S {
  return states.find((state) => state === search.get(name)) ?? states[0];
}
