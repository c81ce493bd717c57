import { useLanguage } from './language.ts';

/** Texts of the search for pages and commands. They load with it. */
const en = {
  title: 'Go to',
  label: 'Page, command, or the id of a session or request',
  none: 'Nothing matches. Try a page name, or paste an id.',
  invitations: 'Invitations',
  quickstart: 'Docs: Quickstart',
  http: 'Docs: HTTP reference',
  stream: 'Docs: Stream reference',
  errors: 'Docs: Errors',
  docs: 'Docs',
  openId: (id: string) => `Find ${id} in Sessions`,
  findCall: (id: string) => `Find ${id} in Log`,
  keys: 'Arrow keys choose, Enter opens, Escape closes.',
};
export type PaletteTexts = typeof en;

const sw: PaletteTexts = {
  title: 'Nenda',
  label: 'Ukurasa, amri, au kitambulisho cha kipindi au ombi',
  none: 'Hakuna kinacholingana. Jaribu jina la ukurasa, au bandika kitambulisho.',
  invitations: 'Mialiko',
  quickstart: 'Nyaraka: Mwongozo wa kuanza',
  http: 'Nyaraka: Marejeleo ya HTTP',
  stream: 'Nyaraka: Marejeleo ya mkondo',
  errors: 'Nyaraka: Makosa',
  docs: 'Nyaraka',
  openId: (id) => `Tafuta ${id} kwenye Vipindi`,
  findCall: (id) => `Tafuta ${id} kwenye Kumbukumbu`,
  keys: 'Mishale huchagua, Enter hufungua, Escape hufunga.',
};

export const PALETTE_TEXTS = { en, sw };

export function usePaletteTexts(): PaletteTexts {
  return PALETTE_TEXTS[useLanguage().language];
}
