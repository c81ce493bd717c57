import { useTexts } from '../../app/language.tsx';
import { Link, usePath } from '../../app/router.tsx';
import { useUsageTexts } from '../../texts/usage.ts';

/** Links between the list of sessions, their sums and the API calls. */
export function SessionTabs() {
  const texts = useTexts();
  const usage = useUsageTexts();
  const path = usePath();
  const tabs = [
    ['/app/sessions', texts.nav.sessions],
    ['/app/sessions/usage', usage.title],
    ['/app/sessions/log', usage.log],
    ['/app/sessions/credit', usage.credit],
  ] as const;
  return (
    <nav aria-label={usage.tabs} className="mb-5 flex gap-3 border-b border-line text-sm sm:gap-5">
      {tabs.map(([href, label]) => (
        <Link
          key={href}
          href={href}
          {...(path === href ? { 'aria-current': 'page' as const } : {})}
          className="-mb-px border-b-2 border-transparent px-1 py-2.5 text-ink-2 hover:text-ink aria-[current]:border-accent aria-[current]:font-semibold aria-[current]:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
