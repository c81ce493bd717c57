import { createCssVariablesTheme, createHighlighter, type BundledLanguage } from 'shiki';
import { escapeHtml } from './html.ts';

const LANGUAGES = {
  sh: 'bash',
  bash: 'bash',
  ts: 'ts',
  tsx: 'tsx',
  js: 'js',
  python: 'python',
  json: 'json',
  yaml: 'yaml',
  html: 'html',
  xml: 'xml',
  sql: 'sql',
  http: 'http',
} as const satisfies Record<string, BundledLanguage>;

const VARIABLE = /^var\(--code-token-(.+)\)$/;
const THEME = createCssVariablesTheme({ name: 'classes', variablePrefix: '--code-' });

/** Returns HTML for source code. Colours are classes, because the content security policy forbids style attributes. */
export type Highlight = (code: string, language: string) => string;

export async function createHighlight(): Promise<Highlight> {
  const shiki = await createHighlighter({
    themes: [THEME],
    langs: [...new Set(Object.values(LANGUAGES))],
  });
  return (code, language) => {
    if (!isKnown(language)) return escapeHtml(code);
    const lines = shiki.codeToTokensBase(code, {
      lang: LANGUAGES[language],
      theme: THEME,
      // Without it a slow machine leaves the rest of a line uncoloured, and two builds differ.
      tokenizeTimeLimit: 0,
    });
    return lines.map((tokens) => tokens.map(renderToken).join('')).join('\n');
  };
}

function isKnown(language: string): language is keyof typeof LANGUAGES {
  return Object.hasOwn(LANGUAGES, language);
}

function renderToken({ content, color }: { content: string; color?: string }): string {
  const kind = VARIABLE.exec(color ?? '')?.[1];
  const text = escapeHtml(content);
  return kind === undefined ? text : `<span class="t-${kind}">${text}</span>`;
}
