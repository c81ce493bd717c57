import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react';

interface Tab<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly panel: ReactNode;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs whose panels all stay mounted, so that none loses its state. The arrow keys move between them. */
export function Tabs<T extends string>(props: {
  label: string;
  value: T;
  tabs: readonly Tab<T>[];
  onChange: (value: T) => void;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  function move(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const at = props.tabs.findIndex(({ value }) => value === props.value);
    const next = (at + step + props.tabs.length) % props.tabs.length;
    const tab = props.tabs[next];
    if (tab === undefined) return;
    event.preventDefault();
    props.onChange(tab.value);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <div
        ref={list}
        role="tablist"
        aria-label={props.label}
        onKeyDown={move}
        className="flex gap-1 border-b border-line"
      >
        {props.tabs.map(({ value, label }) => {
          const isChosen = value === props.value;
          return (
            <button
              key={value}
              type="button"
              role="tab"
              id={`${id}-${value}`}
              aria-selected={isChosen}
              aria-controls={`${id}-${value}-panel`}
              tabIndex={isChosen ? 0 : -1}
              onClick={() => props.onChange(value)}
              className={`-mb-px min-h-10 border-b-2 px-3 text-sm ${isChosen ? 'border-accent font-semibold text-ink' : 'border-transparent text-ink-2 hover:text-ink'}`}
            >
              {label}
            </button>
          );
        })}
      </div>
      {props.tabs.map(({ value, panel }) => (
        <div
          key={value}
          role="tabpanel"
          id={`${id}-${value}-panel`}
          aria-labelledby={`${id}-${value}`}
          hidden={value !== props.value}
          className="min-w-0"
        >
          {panel}
        </div>
      ))}
    </div>
  );
}
