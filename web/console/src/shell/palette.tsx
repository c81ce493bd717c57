import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import { Dialog } from '../design/surfaces.tsx';
import { OPERATOR_PATHS, OPERATOR_PLACES } from '../screens/operator/paths.ts';
import { useOperatorTexts } from '../texts/operator.ts';
import { usePaletteTexts, type PaletteTexts } from '../texts/palette.ts';
import { useTexts } from '../app/language.tsx';
import { navigate } from '../app/router.tsx';
import { UUID } from '../app/uuid.ts';

export interface PaletteProps {
  readonly me: Me;
  /** The pages of the navigation. */
  readonly places: readonly { readonly label: string; readonly href: string }[];
  readonly onSignOut: () => void;
  readonly onClose: () => void;
}

interface Command {
  readonly label: string;
  readonly run: () => void;
}

/** A search for pages and commands. The list is filtered while you type. */
export function Palette(props: PaletteProps) {
  const texts = usePaletteTexts();
  const commands = useCommands(props);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // A dialog focuses its title when it opens. This one was opened to type in it.
  useEffect(() => input.current?.focus(), []);
  const found = [...forId(typed.trim(), texts), ...commands.filter(matching(typed))];
  const chosen = Math.min(at, found.length - 1);
  function run(command: Command | undefined): void {
    if (command === undefined) return;
    props.onClose();
    command.run();
  }
  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setAt((chosen + step + found.length) % found.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(found[chosen]);
    }
  }
  return (
    <Dialog title={texts.title} onClose={props.onClose}>
      <input
        ref={input}
        role="combobox"
        aria-label={texts.label}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(found.length === 0 ? {} : { 'aria-activedescendant': `${id}-${chosen}` })}
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        placeholder={texts.label}
        className="input"
        value={typed}
        onKeyDown={onKey}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label={texts.title}
        className="max-h-[min(20rem,45dvh)] overflow-y-auto"
      >
        {found.map((command, index) => (
          // The keyboard works in the input, which says which option is chosen.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
          <li
            key={command.label}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: 'nearest' });
            }}
            onClick={() => run(command)}
            className="cursor-pointer rounded-sm px-3 py-2.5 text-sm wrap-anywhere hover:bg-muted aria-selected:bg-accent-soft aria-selected:font-semibold aria-selected:text-accent-strong"
          >
            {command.label}
          </li>
        ))}
      </ul>
      <p role="status" className="text-xs text-ink-3">
        {found.length === 0 ? (
          texts.none
        ) : (
          <span className="pointer-coarse:hidden">{texts.keys}</span>
        )}
      </p>
    </Dialog>
  );
}

function go(label: string, path: string): Command {
  return { label, run: () => navigate(path) };
}

/** For pages outside the console. */
function open(label: string, path: string): Command {
  return { label, run: () => location.assign(path) };
}

function useCommands({ me, places, onSignOut }: PaletteProps): Command[] {
  const texts = usePaletteTexts();
  const common = useTexts();
  const operator = useOperatorTexts();
  return [
    ...places.map(({ label, href }) => go(label, href)),
    ...(me.account?.role === 'owner' ? [go(common.activity.title, '/app/activity')] : []),
    ...(me.operator
      ? OPERATOR_PLACES.map((place) =>
          go(`${common.nav.operator}: ${operator.tabs[place]}`, OPERATOR_PATHS[place]),
        )
      : []),
    go(texts.invitations, '/app/invitations'),
    open(texts.docs, '/docs'),
    open(texts.quickstart, '/docs/start/quickstart'),
    open(texts.http, '/docs/reference/http'),
    open(texts.stream, '/docs/reference/stream'),
    open(texts.errors, '/docs/errors'),
    open(common.nav.status, '/status'),
    { label: common.nav.signOut, run: onSignOut },
  ];
}

function matching(typed: string): (command: Command) => boolean {
  const words = typed.toLowerCase().split(/\s+/);
  return ({ label }) => words.every((word) => label.toLowerCase().includes(word));
}

/** An id may be that of a session, or of a call in the log. */
function forId(typed: string, texts: PaletteTexts): Command[] {
  if (!UUID.test(typed)) return [];
  return [
    go(texts.openId(typed), `/app/sessions?id=${typed}`),
    go(texts.findCall(typed), `/app/log?id=${typed}`),
  ];
}
