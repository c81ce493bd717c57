import { useLanguage } from './language.ts';

/** Texts of the Log page. They load with that page. */
const en = {
  title: 'Log',
  lead: (days: number) =>
    `API calls and refused streams of the last ${days} days. Newest first, a second or two behind. No bodies, no audio, no text.`,
  id: 'Request or session id',
  idInvalid: 'Enter a whole id, such as 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11.',
  show: 'Show',
  all: 'All calls',
  refused: 'Refused and failed calls',
  search: 'Search',
  clear: 'Clear the filters',
  csv: 'Download CSV',
  csvHint: (n: string) => `The file has the same filters, and at most ${n} calls.`,
  empty: 'No calls match. Change or clear the filters.',
  emptyAll: 'No calls in the last seven days. Create a session with your API key.',
  newest: 'Newest',
  older: 'Older',
  refresh: 'Refresh',
  time: 'Time',
  call: 'Call',
  status: 'Status',
  key: 'API key',
  request: 'Request id',
  latency: 'Latency',
  session: 'Session',
  playground: 'Playground',
  more: (n: string) => `${n} more calls like this in the same second are not listed.`,
  ms: (n: string) => `${n} ms`,
};
export type LogTexts = typeof en;

const sw: LogTexts = {
  title: 'Kumbukumbu',
  lead: (days) =>
    `Maombi ya API na mikondo iliyokataliwa ya siku ${days} zilizopita. Mapya kwanza, kwa kuchelewa sekunde moja au mbili. Hakuna yaliyomo, sauti wala maandishi.`,
  id: 'Kitambulisho cha ombi au cha kipindi',
  idInvalid: 'Andika kitambulisho kizima, kama 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11.',
  show: 'Onyesha',
  all: 'Maombi yote',
  refused: 'Maombi yaliyokataliwa au kushindwa',
  search: 'Tafuta',
  clear: 'Ondoa vichujio',
  csv: 'Pakua CSV',
  csvHint: (n) => `Faili ina vichujio hivi hivi, na maombi yasiyozidi ${n}.`,
  empty: 'Hakuna ombi linalolingana. Badilisha au ondoa vichujio.',
  emptyAll: 'Hakuna maombi katika siku saba zilizopita. Unda kipindi kwa ufunguo wako wa API.',
  newest: 'Mapya zaidi',
  older: 'Ya zamani',
  refresh: 'Onyesha upya',
  time: 'Wakati',
  call: 'Ombi',
  status: 'Hali',
  key: 'Ufunguo wa API',
  request: 'Kitambulisho cha ombi',
  latency: 'Muda',
  session: 'Kipindi',
  playground: 'Jaribio',
  more: (n) => `Maombi mengine ${n} kama hili ya sekunde hiyo hiyo hayajaorodheshwa.`,
  ms: (n) => `ms ${n}`,
};

export const LOG_TEXTS = { en, sw };

export function useLogTexts(): LogTexts {
  return LOG_TEXTS[useLanguage().language];
}
