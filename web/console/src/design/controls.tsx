import { useId, type ButtonHTMLAttributes, type InputHTMLAttributes, type ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';

type Kind = 'primary' | 'secondary' | 'quiet' | 'danger' | 'destroy' | 'code';
const KINDS: Record<Kind, string> = {
  primary: 'button button-primary',
  secondary: 'button button-secondary',
  quiet: 'button button-quiet',
  danger: 'button button-danger',
  destroy: 'button button-destroy',
  code: 'button button-code',
};

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: Kind;
  icon?: IconName;
  busy?: boolean;
};

/** A button. It keeps its size and focus while busy; useAction ignores clicks. */
export function Button({
  kind = 'secondary',
  icon,
  busy,
  children,
  className,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy}
      className={`${KINDS[kind]} ${className ?? ''}`}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} size={18} />}
      {children}
    </button>
  );
}

function Spinner() {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" className="animate-spin">
      <path d="M8 1.5A6.5 6.5 0 1 1 1.5 8" fill="none" stroke="currentColor" strokeWidth="2" />
    </svg>
  );
}

/** Label, control, hint and error, linked for screen readers. */
export function Field(props: {
  label: string;
  hint?: string;
  error?: string | null;
  children: (control: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
  }) => ReactNode;
}) {
  const id = useId();
  const note = props.error ?? props.hint;
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {props.label}
      </label>
      {props.children({
        id,
        ...(note === undefined ? {} : { 'aria-describedby': `${id}-note` }),
        ...(props.error ? { 'aria-invalid': true } : {}),
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={`text-xs ${props.error ? 'text-danger' : 'text-ink-3'}`}>
          {note}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
  label: string;
  hint?: string;
  error?: string | null;
  onChange: (text: string) => void;
};

/** A labelled single-line text input. */
export function TextField({ label, hint, error, onChange, className, ...rest }: TextFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })} error={error ?? null}>
      {(control) => (
        <input
          autoComplete="off"
          {...rest}
          {...control}
          className={`input ${className ?? ''}`}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A segmented control made of radio buttons. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  /** More options than fit beside each other on a phone. */
  wraps?: boolean;
  disabled?: boolean;
  onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset disabled={props.disabled} className="grid gap-1.5 disabled:opacity-60">
      <legend className="mb-1.5 text-sm font-medium">{props.label}</legend>
      <div
        className={`grid gap-1 rounded-md bg-muted p-1 ring-1 ring-edge ${props.wraps === true ? 'grid-cols-[repeat(auto-fit,minmax(5.5rem,1fr))]' : 'auto-cols-fr grid-flow-col'}`}
      >
        {props.options.map((option) => (
          <label
            key={option.value}
            className="relative grid min-h-9 place-items-center rounded-sm px-3 text-center text-sm text-ink-2 has-checked:bg-picked has-checked:font-semibold has-checked:text-ink has-checked:shadow-card has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === props.value}
              onChange={() => props.onChange(option.value)}
              className="absolute inset-0 appearance-none outline-none"
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
