import { trimSlashes } from '@svc-asr/protocol/trim-slashes.ts';
import { compressBody } from '../../platform/network/shared-body.ts';
import type { ConsoleConfig } from '../../config/console-config.ts';
import type { Site, SiteFile } from './site.ts';

/** The public pages, whose text depends on the configuration of this service. */
const PAGES = ['/index.html', '/sw.html'];

type Facts = Pick<ConsoleConfig, 'publicUrl' | 'price' | 'demo' | 'privacyUrl' | 'termsUrl'>;

/** Fills the marks in the public pages, once. All other files stay as they were built. */
export function fillPublicPages(site: Site, facts: Facts): Site {
  const filled = new Map(site);
  for (const name of PAGES) {
    const file = site.get(name);
    if (file !== undefined) filled.set(name, fillOnce(file, facts));
  }
  return filled;
}

function fillOnce(file: SiteFile, facts: Facts): SiteFile {
  async function fill() {
    const { plain } = await file.body();
    return compressBody(Buffer.from(fillMarks(plain.toString(), facts)));
  }
  let body: ReturnType<typeof fill> | null = null;
  return {
    ...file,
    body: () => {
      body ??= fill().catch((error: unknown) => {
        body = null;
        throw error;
      });
      return body;
    },
  };
}

/**
 * Replaces {{marks}} with escaped values. `{{#name}}…{{/name}}` stays if the value is set, and `{{^name}}…{{/name}}` if
 * it is not.
 */
function fillMarks(page: string, facts: Facts): string {
  const values: Readonly<Record<string, string>> = {
    public_url: trimSlashes(facts.publicUrl),
    price: facts.price ?? '',
    privacy: facts.privacyUrl,
    terms: facts.termsUrl ?? '',
    demo: facts.demo === null ? '' : 'on',
  };
  return (
    page
      // oxlint-disable-next-line svc/linear-expression -- pages of our own build, filled once
      .replaceAll(/\{\{([#^])(\w+)\}\}([\s\S]*?)\{\{\/\2\}\}/g, (_, kind, name, inner) =>
        (values[name] !== '') === (kind === '#') ? inner : '',
      )
      .replaceAll(/\{\{(\w+)\}\}/g, (_, name) => escapeHtml(values[name] ?? ''))
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
