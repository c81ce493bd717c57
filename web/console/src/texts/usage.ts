import { useLanguage } from '../app/language.tsx';

/** Texts of the Usage page. They load with that page. */
const en = {
  title: 'Usage',
  lead: 'Audio charged by UTC day, model and API key, exactly as in the ledger.',
  from: 'From (UTC)',
  to: 'To (UTC)',
  show: 'Show',
  csv: 'Download CSV',
  totalOf: (audio: string, sessions: string) => `Charged: ${audio}. Sessions: ${sessions}.`,
  byKey: 'By API key and model',
  byDay: 'By day',
  day: 'Day',
  key: 'API key',
  model: 'Model',
  sessions: 'Sessions',
  charged: 'Charged',
  exact: 'Milliseconds',
  playground: 'Playground, no key',
  empty: 'Nothing was charged in this time.',
  incomplete: 'This is not everything. Choose a shorter time, or reload the page in a minute.',
};
export type UsageTexts = typeof en;

const sw: UsageTexts = {
  title: 'Matumizi',
  lead: 'Sauti iliyolipishwa kwa siku ya UTC, modeli na ufunguo wa API, sawasawa na leja.',
  from: 'Kuanzia (UTC)',
  to: 'Hadi (UTC)',
  show: 'Onyesha',
  csv: 'Pakua CSV',
  totalOf: (audio, sessions) => `Iliyolipishwa: ${audio}. Vipindi: ${sessions}.`,
  byKey: 'Kwa ufunguo wa API na modeli',
  byDay: 'Kwa siku',
  day: 'Siku',
  key: 'Ufunguo wa API',
  model: 'Modeli',
  sessions: 'Vipindi',
  charged: 'Iliyolipishwa',
  exact: 'Milisekunde',
  playground: 'Jaribio, bila ufunguo',
  empty: 'Hakuna kilicholipishwa katika muda huu.',
  incomplete: 'Hii si yote. Chagua muda mfupi zaidi, au upakie ukurasa upya baada ya dakika moja.',
};

export const USAGE_TEXTS = { en, sw };

export function useUsageTexts(): UsageTexts {
  return USAGE_TEXTS[useLanguage().language];
}
