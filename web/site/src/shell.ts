import { escapeHtml } from './html.ts';
import { icon, LOGO } from './icons.ts';

/** Addresses of the built stylesheets and scripts. */
export interface Assets {
  readonly stylesheet: string;
  /** Shows everything that needs JavaScript to be reached. */
  readonly withoutScript: string;
  /** Runs before the first paint: sets the theme, and marks that scripts run. */
  readonly early: string;
  readonly main: string;
}

export interface Shell {
  readonly title: string;
  readonly description: string;
  /** The page's URL path, or null for a page without one of its own (404). */
  readonly url: string | null;
  /** The address of the same page as Markdown. */
  readonly markdownUrl: string | null;
  readonly sidebar: string;
  readonly main: string;
  readonly layout: 'article' | 'wide' | 'reference' | 'plain';
  readonly assets: Assets;
}

const FEED =
  '<link rel="alternate" type="application/atom+xml" href="/status/incidents.atom" title="Incidents">';

/** Returns a whole HTML page. It has no inline script or style, as the service's content security policy demands. */
export function renderShell(page: Shell): string {
  const title = page.url === '/docs' ? page.title : `${page.title} · svc-asr`;
  const markdown =
    page.markdownUrl === null
      ? ''
      : `<link rel="alternate" type="text/markdown" href="${page.markdownUrl}">`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
${markdown}${page.url === '/status' ? FEED : ''}
<link rel="stylesheet" href="${page.assets.stylesheet}">
<noscript><link rel="stylesheet" href="${page.assets.withoutScript}"></noscript>
<script src="${page.assets.early}"></script>
<script type="module" src="${page.assets.main}"></script>
</head>
<body class="layout-${page.layout}">
<a class="skip" href="#main">Skip to content</a>
${header(page)}
<div class="frame">
<nav class="sidebar" aria-label="Documentation" id="sidebar">${page.sidebar}</nav>
${page.main}
</div>
</body>
</html>
`;
}

/** Where svc-admin puts the address of the service. */
export const SERVICE_MARK = '{{service}}';

/** The status page for a host of its own, which has no other page: `svc-admin status export` fills and writes it. */
export function renderElsewhere(main: string, assets: Assets): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>svc-asr status</title>
<meta name="description" content="Whether svc-asr works right now.">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
${FEED}
<link rel="stylesheet" href="${assets.stylesheet}">
<script src="${assets.early}"></script>
<script type="module" src="${assets.main}"></script>
</head>
<body class="layout-alone">
<header class="top">
<a class="brand" href="${SERVICE_MARK}">${LOGO}<span>svc-asr</span></a>
<nav class="top-links" aria-label="Site"><a href="${SERVICE_MARK}/docs">Docs</a><a class="top-console" href="${SERVICE_MARK}/app">Console</a></nav>
<button type="button" class="icon-button needs-script" data-theme-button aria-label="Theme">${icon('theme')}</button>
</header>
<div class="frame">
${main}
</div>
</body>
</html>
`;
}

function header({ url }: Shell): string {
  const link = (href: string, text: string) => {
    const here = href === url || (href === '/docs' && url !== null && url.startsWith('/docs'));
    return `<a href="${href}"${here ? ' aria-current="true"' : ''}>${text}</a>`;
  };
  return `<header class="top">
<button type="button" class="icon-button menu-button needs-script" data-menu aria-expanded="false" aria-controls="sidebar" aria-label="Menu">${icon('menu', 20)}</button>
<a class="brand" href="/docs">${LOGO}<span>svc-asr</span><span class="brand-part">docs</span></a>
<button type="button" class="search-button needs-script" data-search aria-label="Search" aria-keyshortcuts="/ Control+K">${icon('search')}<span>Search</span><kbd>/</kbd></button>
<nav class="top-links" aria-label="Site">${link('/docs', 'Docs')}${link('/changelog', 'Changelog')}${link('/status', 'Status')}<a class="top-console" href="/app">Console</a></nav>
<button type="button" class="icon-button needs-script" data-theme-button aria-label="Theme">${icon('theme')}</button>
</header>`;
}
