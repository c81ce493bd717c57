import { useEffect, useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { useTexts } from '../app/language.tsx';
import { Button } from './controls.tsx';

export function Card(props: {
  title?: string;
  lead?: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      className="card p-5 sm:p-6"
      {...(props.title === undefined ? {} : { 'aria-labelledby': id })}
    >
      {props.title !== undefined && (
        <div className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
          <div>
            <h2 id={id} className="text-lg">
              {props.title}
            </h2>
            {props.lead !== undefined && (
              <p className="mt-1 max-w-[68ch] text-sm text-ink-2">{props.lead}</p>
            )}
          </div>
          {props.aside}
        </div>
      )}
      {props.children}
    </section>
  );
}

export function PageHead(props: {
  title: string;
  lead?: string;
  /** Beside the title, such as a badge. */
  mark?: ReactNode;
  /** On phones the children stand below the lead, because they don't fit beside the title. */
  isWide?: boolean;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${props.title} · svc-asr`;
  }, [props.title]);
  return (
    <header className="mb-6 flex flex-wrap items-center justify-between gap-x-3 gap-y-2 sm:grid sm:grid-cols-[minmax(0,1fr)_auto] sm:items-end">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="min-w-0 text-xl wrap-anywhere sm:text-2xl">{props.title}</h1>
        {props.mark}
      </div>
      {props.children && (
        <div
          className={`sm:row-span-2 ${props.isWide === true ? 'max-sm:order-1 max-sm:mt-1' : ''}`}
        >
          {props.children}
        </div>
      )}
      {props.lead !== undefined && (
        <p className="max-w-[68ch] wrap-anywhere text-ink-2 max-sm:basis-full sm:col-start-1">
          {props.lead}
        </p>
      )}
    </header>
  );
}

/** A native dialog, which traps focus, closes on Escape and restores focus. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  /** False if closing would lose data, such as a key that is shown once. */
  dismissible?: boolean;
  children: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Close before the element is removed: only closing an open dialog restores focus.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const dismissible = props.dismissible ?? true;
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (dismissible) props.onClose();
      }}
      className="overlay w-[min(34rem,calc(100vw-2rem))] p-5 sm:p-6"
    >
      <h2 id={id} className="text-lg outline-none" tabIndex={-1}>
        {props.title}
      </h2>
      <div className="mt-3 grid grid-cols-[minmax(0,1fr)] gap-4">{props.children}</div>
    </dialog>
  );
}

export function CopyButton({ text, onCode }: { text: string; onCode?: boolean }) {
  const texts = useTexts();
  const [copied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  }
  return (
    <Button
      kind={onCode === true ? 'code' : 'secondary'}
      icon={copied ? 'check' : 'copy'}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{copied ? texts.common.copied : texts.common.copy}</span>
    </Button>
  );
}

export type Syntax = 'TypeScript' | 'JavaScript' | 'Python' | 'Shell';

/** A code block with a copy button. It scrolls horizontally, also by keyboard. */
export function CodeBlock(props: { code: string; label: string; syntax: Syntax }) {
  const { code, label } = props;
  return (
    <div className="code grid rounded-md">
      <div className="flex items-center justify-between border-b border-[#24312c] py-1.5 pr-1.5 pl-4 font-sans text-xs">
        <span className="code-dim">{props.syntax}</span>
        <CopyButton text={code} onCode />
      </div>
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="overflow-x-auto p-4 text-xs leading-5"
      >
        <code>{code}</code>
      </pre>
    </div>
  );
}
