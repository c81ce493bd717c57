import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { PUBLIC_TEXTS } from './texts.ts';

const PATHS: Record<ConsoleLanguage, string> = { en: '/', sw: '/sw' };
const LOCALES: Record<ConsoleLanguage, string> = { en: 'en_GB', sw: 'sw_KE' };

/** Returns the head of the public page, with its sharing tags. The server fills its {{marks}}. */
export function renderHead(language: ConsoleLanguage): string {
  const { head, other } = PUBLIC_TEXTS[language];
  const address = `{{public_url}}${PATHS[language]}`;
  return `
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${head.title}</title>
    <meta name="description" content="${head.description}" />
    <link vite-ignore rel="alternate" hreflang="${other.code}" href="${other.href}" />
    <link vite-ignore rel="canonical" href="${address}" />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="svc-asr" />
    <meta property="og:title" content="${head.title}" />
    <meta property="og:description" content="${head.description}" />
    <meta property="og:url" content="${address}" />
    <meta property="og:image" content="{{public_url}}/share.png" />
    <meta property="og:image:width" content="1200" />
    <meta property="og:image:height" content="630" />
    <meta property="og:locale" content="${LOCALES[language]}" />
    <meta name="twitter:card" content="summary_large_image" />
    <link vite-ignore rel="icon" href="/icon.svg" type="image/svg+xml" />`;
}
