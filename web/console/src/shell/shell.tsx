import { Fragment, useEffect, useRef, useState, type ReactNode } from 'react';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import { Badge, Notice } from '../design/feedback.tsx';
import { Icon, Logo, type IconName } from '../design/icons.tsx';
import { clearHistory } from '../screens/playground/tools/history.ts';
import { post } from '../app/api.ts';
import { useConnection } from '../app/connection.ts';
import { ConnectionBar } from './connection-bar.tsx';
import { formatAudio } from '../app/format.ts';
import { useTexts } from '../app/language.tsx';
import { PaletteButton } from './palette-button.tsx';
import { Link, navigate, usePath } from '../app/router.tsx';
import { chooseTheme, currentTheme, THEMES } from '../app/theme.ts';

const MAIN = ['overview', 'sessions', 'log', 'usage', 'playground'] as const;
const ACCOUNT = ['keys', 'credit', 'team', 'settings'] as const;
type Place = (typeof MAIN)[number] | (typeof ACCOUNT)[number] | 'operator';
const PATHS: Record<Place, string> = {
  overview: '/app',
  sessions: '/app/sessions',
  log: '/app/log',
  usage: '/app/usage',
  playground: '/app/playground',
  keys: '/app/keys',
  credit: '/app/credit',
  team: '/app/team',
  settings: '/app/settings',
  operator: '/app/operator',
};

/** Addresses of pages before they had a place of their own in the navigation. Old emails link to them. */
const MOVED: Readonly<Record<string, string>> = {
  '/app/sessions/usage': PATHS.usage,
  '/app/sessions/log': PATHS.log,
  '/app/sessions/credit': PATHS.credit,
};
const moved = MOVED[location.pathname];
if (moved !== undefined) history.replaceState(null, '', `${moved}${location.search}`);

/** The tabs of phones. More labels would be cut, so the other places are in the menu of the person. */
function tabsOf(me: Me): ReadonlySet<Place> {
  if (me.account === null) return new Set(['operator']);
  const last = me.operator ? 'operator' : 'keys';
  return new Set(['overview', 'sessions', 'usage', 'playground', last]);
}

/** A place includes the pages below it, such as one session. */
function isAt(path: string, place: Place): boolean {
  return path === PATHS[place] || (place !== 'overview' && path.startsWith(`${PATHS[place]}/`));
}

/** The smallest reservation. With less, new sessions are refused. */
const CREDIT_MIN_MS = 1_000;
const CREDIT_LOW_MS = 60_000;

/** Long enough for a page to load and paint its data. */
const BADGES_AFTER_MS = 500;

const INVITATIONS = '/app/invitations';

/** The page layout: a sidebar on wide screens, a tab bar at the bottom on phones. */
export function Shell(props: { me: Me; onChanged: () => Promise<void>; children: ReactNode }) {
  const texts = useTexts();
  const path = usePath();
  const { me, onChanged } = props;
  const main = useRef<HTMLElement>(null);
  const opened = useRef(path);
  useEffect(() => {
    if (opened.current === path) return undefined;
    opened.current = path;
    // Moves focus to the top of each new page for screen readers. The browser handles the first page.
    main.current?.focus();
    // The credit and the badges may have changed meanwhile. The reader waits for the page's own data first.
    const timer = setTimeout(() => void onChanged(), BADGES_AFTER_MS);
    return () => clearTimeout(timer);
  }, [path, onChanged]);
  const { trouble, figuresAt } = useConnection();
  const places: readonly Place[] = [
    ...(me.account === null ? [] : [...MAIN, ...ACCOUNT]),
    ...(me.operator ? (['operator'] as const) : []),
  ];
  const tabs = tabsOf(me);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_1fr] print:block">
      <a
        href="#main"
        className="button button-primary sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-20"
      >
        {texts.nav.skip}
      </a>
      <header className="print:hidden flex items-center justify-between gap-3 border-b border-line px-4 py-3 md:sticky md:top-0 md:h-dvh md:flex-col md:items-stretch md:justify-start md:border-b-0 md:px-4 md:py-6">
        <div className="flex md:px-2">
          <Logo />
        </div>
        {/* On wide screens the account is named in the menu below. */}
        <p className="min-w-0 grow truncate text-right text-sm text-ink-2 md:hidden">
          {me.account?.name}
        </p>
        <PaletteButton
          me={me}
          places={places.map((place) => ({ label: texts.nav[place], href: PATHS[place] }))}
          onSignOut={() => void signOut('/sign-out', props.onChanged)}
        />
        {/* A person without an account has nowhere to go yet. */}
        <nav
          hidden={places.length === 0}
          aria-label={texts.nav.label}
          className="fixed inset-x-0 bottom-0 z-10 flex border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:static md:mt-4 md:min-h-0 md:flex-col md:gap-0.5 md:overflow-y-auto md:border-0 md:bg-transparent"
        >
          {places.map((place) => (
            <Fragment key={place}>
              {place === ACCOUNT[0] && (
                <p className="px-3 pt-4 pb-1 text-xs font-medium text-ink-3 max-md:hidden">
                  {texts.nav.account}
                </p>
              )}
              <NavLink
                href={PATHS[place]}
                icon={place}
                label={texts.nav[place]}
                current={isAt(path, place)}
                className={`${tabs.has(place) ? '' : 'max-md:hidden'} ${place === 'operator' ? 'md:mt-4' : ''}`}
              >
                <PlaceBadge place={place} me={me} />
              </NavLink>
            </Fragment>
          ))}
        </nav>
        <nav aria-label={texts.nav.more} className="mt-auto grid gap-1 pb-3 max-md:hidden">
          <OutsideLink href="/docs" icon="docs" label={texts.nav.docs} />
          <OutsideLink href="/status" icon="status" label={texts.nav.status} />
        </nav>
        <Person me={me} onChanged={props.onChanged}>
          <div className="grid grid-cols-2 gap-2 empty:hidden md:hidden">
            {places
              .filter((place) => !tabs.has(place))
              .map((place) => (
                <Link key={place} className="button button-secondary" href={PATHS[place]}>
                  {texts.nav[place]}
                </Link>
              ))}
          </div>
        </Person>
      </header>
      <div className="min-w-0 md:min-h-dvh md:border-l md:border-line">
        <ConnectionBar />
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          className={`mx-auto w-full max-w-5xl px-4 pt-6 pb-28 outline-none sm:px-8 md:pt-10 md:pb-16 ${trouble !== null && figuresAt !== null ? 'stale' : ''}`}
        >
          {me.account?.active === false && (
            <div className="mb-6">
              <Notice tone="warn">{texts.nav.inactive}</Notice>
            </div>
          )}
          {me.account !== null && me.account.available_ms < CREDIT_MIN_MS && (
            <OutOfCredit hasButton={path !== PATHS.credit} />
          )}
          {me.account !== null && me.invitations > 0 && path !== INVITATIONS && (
            <div className="mb-6">
              <Notice tone="info">
                <Link href={INVITATIONS} className="underline underline-offset-4">
                  {texts.nav.invited}
                </Link>
              </Notice>
            </div>
          )}
          {props.children}
        </main>
      </div>
    </div>
  );
}

/** Loud, because nothing works without credit. */
function OutOfCredit({ hasButton }: { hasButton: boolean }) {
  const texts = useTexts();
  return (
    <section
      role="alert"
      className="mb-6 flex flex-wrap items-center justify-between gap-x-4 gap-y-3 rounded-lg border border-danger bg-danger-soft px-5 py-4 text-danger-strong"
    >
      <p className="flex items-center gap-2.5 font-semibold">
        <Icon name="warning" />
        {texts.nav.outOfCredit}
      </p>
      {hasButton && (
        <Link href={PATHS.credit} className="button button-primary">
          {texts.overview.request}
        </Link>
      )}
    </section>
  );
}

/** Shown where something waits: little credit, and for operators people, requests and failures. */
function PlaceBadge({ place, me }: { place: Place; me: Me }) {
  const texts = useTexts();
  if (place === 'credit' && me.account !== null && me.account.available_ms < CREDIT_LOW_MS) {
    const isEmpty = me.account.available_ms < CREDIT_MIN_MS;
    return (
      <Badge tone={isEmpty ? 'bad' : 'warn'}>{formatAudio(me.account.available_ms, texts)}</Badge>
    );
  }
  if (place !== 'operator' || me.waiting === null) return null;
  const { waitlist, requests, failures } = me.waiting;
  const count = waitlist + requests + failures;
  if (count === 0) return null;
  return (
    <Badge tone="warn">
      <span aria-hidden="true">{count}</span>
      <span className="sr-only">{texts.nav.waiting(String(count))}</span>
    </Badge>
  );
}

function NavLink(props: {
  href: string;
  icon: IconName;
  label: string;
  current: boolean;
  className: string;
  children: ReactNode;
}) {
  return (
    <Link
      href={props.href}
      {...(props.current ? { 'aria-current': 'page' as const } : {})}
      className={`${props.className} flex min-h-14 min-w-0 flex-1 flex-col items-center justify-center gap-1 px-0.5 text-[0.6875rem] leading-4 text-ink-2 hover:text-ink aria-[current]:text-accent max-md:aria-[current]:shadow-[inset_0_2px_0_var(--accent)] md:min-h-9 md:[@media(max-height:50rem)]:min-h-8 md:flex-none md:flex-row md:justify-start md:gap-3 md:rounded-md md:px-3 md:text-sm md:hover:bg-muted md:aria-[current]:bg-accent-soft md:aria-[current]:font-semibold md:aria-[current]:text-accent-strong`}
    >
      <Icon name={props.icon} />
      <span className="max-md:text-center max-md:leading-3 md:truncate">{props.label}</span>
      <span className="empty:hidden max-md:hidden md:ml-auto">{props.children}</span>
    </Link>
  );
}

/** A page outside the console. Phones have it in the menu of the person. */
function OutsideLink(props: { href: string; icon: IconName; label: string }) {
  return (
    <a
      href={props.href}
      className="flex min-h-9 items-center gap-3 rounded-md px-3 text-sm text-ink-2 hover:bg-muted hover:text-ink"
    >
      <Icon name={props.icon} />
      {props.label}
    </a>
  );
}

async function signOut(
  path: '/sign-out' | '/sign-out-everywhere',
  onChanged: () => Promise<void>,
): Promise<void> {
  clearHistory();
  await post(path).catch(() => null);
  await onChanged();
  navigate('/app');
}

function Person(props: { me: Me; onChanged: () => Promise<void>; children: ReactNode }) {
  const { me, onChanged } = props;
  const texts = useTexts();
  const [theme, setTheme] = useState(currentTheme);
  return (
    <details
      className="relative min-w-0 max-md:shrink-0 md:border-t md:border-line md:pt-3"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.open = false;
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary className="flex min-h-10 list-none items-center gap-2 rounded-md text-sm hover:bg-muted md:px-1 [&::-webkit-details-marker]:hidden">
        <span
          aria-hidden="true"
          className="grid size-8 shrink-0 place-items-center rounded-full bg-accent-soft text-sm font-semibold text-accent-strong uppercase"
        >
          {me.email.slice(0, 1)}
        </span>
        <span className="grid min-w-0 text-xs max-md:sr-only" title={me.email}>
          <span className="truncate font-medium">{me.email}</span>
          {/* A new account has the name of its owner's address. */}
          {me.account !== null && me.account.name !== me.email && (
            <span className="truncate text-ink-3">{me.account.name}</span>
          )}
        </span>
      </summary>
      <div
        tabIndex={-1}
        className="overlay absolute top-12 right-0 z-20 grid w-64 gap-4 p-4 md:top-auto md:right-auto md:bottom-14 md:left-0 outline-none"
      >
        <p className="truncate text-sm text-ink-2">{me.email}</p>
        <AccountChoice me={me} onChanged={onChanged} />
        <label className="grid gap-1.5 text-sm font-medium">
          {texts.nav.theme}
          <select
            className="input select"
            value={theme}
            onChange={(event) => {
              const next = THEMES.find((known) => known === event.target.value) ?? 'system';
              chooseTheme(next);
              setTheme(next);
            }}
          >
            {THEMES.map((option) => (
              <option key={option} value={option}>
                {texts.nav.themes[option]}
              </option>
            ))}
          </select>
        </label>
        {props.children}
        <a className="button button-secondary md:hidden" href="/docs">
          {texts.nav.docs}
        </a>
        <a className="button button-secondary md:hidden" href="/status">
          {texts.nav.status}
        </a>
        <button
          type="button"
          className="button button-secondary"
          onClick={() => void signOut('/sign-out', onChanged)}
        >
          <Icon name="signOut" size={18} />
          {texts.nav.signOut}
        </button>
        <button
          type="button"
          className="button button-secondary"
          onClick={() => void signOut('/sign-out-everywhere', onChanged)}
        >
          {texts.nav.signOutEverywhere}
        </button>
      </div>
    </details>
  );
}

/** For people who belong to several accounts. */
function AccountChoice({ me, onChanged }: { me: Me; onChanged: () => Promise<void> }) {
  const texts = useTexts();
  if (me.accounts.length < 2) return null;
  return (
    <label className="grid gap-1.5 text-sm font-medium">
      {texts.nav.account}
      <select
        className="input select"
        value={me.account?.id}
        onChange={(event) =>
          void post('/accounts/switch', { account_id: event.target.value }).finally(
            () => void onChanged(),
          )
        }
      >
        {me.accounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
