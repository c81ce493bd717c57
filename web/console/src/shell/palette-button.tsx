import { useEffect, useState, type ComponentType } from 'react';
import { Icon } from '../design/icons.tsx';
import { reportTrouble } from '../app/connection.ts';
import { useTexts } from '../app/language.tsx';
import type { PaletteProps } from './palette.tsx';

const KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K';

/** Opens the search for pages and commands, also with Ctrl K or ⌘ K. It loads when it is first opened. */
export function PaletteButton(props: Omit<PaletteProps, 'onClose'>) {
  const texts = useTexts();
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      // A dialog that is open must be answered first.
      if (document.querySelector('dialog[open]') === null) setOpen(true);
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    if (!isOpen || Palette !== null) return;
    import('./palette.tsx').then(
      ({ Palette: loaded }) => setPalette(() => loaded),
      () => {
        setOpen(false);
        reportTrouble('unreachable');
      },
    );
  }, [isOpen, Palette]);
  return (
    <>
      <button
        type="button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
        className="flex min-h-10 items-center gap-2.5 rounded-md px-2 text-sm text-ink-2 hover:bg-muted hover:text-ink md:mt-6 md:border md:border-edge md:bg-surface md:px-3"
      >
        <Icon name="search" size={18} />
        <span className="max-md:sr-only">{texts.nav.search}</span>
        <kbd className="ml-auto font-sans text-xs text-ink-3 max-md:hidden">{KEYS}</kbd>
      </button>
      {isOpen && Palette !== null && <Palette {...props} onClose={() => setOpen(false)} />}
    </>
  );
}
