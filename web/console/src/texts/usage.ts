import { useLanguage } from './language.ts';

/** Texts of the Usage page. They load with that page. */
const en = {
  title: 'Usage',
  lead: 'Charged audio, equal to the ledger. Days are UTC.',
  presets: { month: 'This month', lastMonth: 'Last month', week: 'Last 7 days' },
  otherDays: 'Choose other days',
  from: 'From (UTC)',
  to: 'To (UTC)',
  show: 'Show',
  print: 'Print statement',
  statementOf: (account: string) => `svc-asr statement of ${account}`,
  between: (from: string, to: string) => `${from} to ${to}, UTC`,
  csv: 'Download CSV',
  allKeys: 'All keys',
  allModels: 'All languages',
  byKey: 'By API key and model',
  byDay: 'Per day',
  key: 'API key',
  model: 'Model',
  sessions: 'Sessions',
  charged: 'Charged',
  share: 'Share',
  total: 'Total',
  percent: (n: string) => `${n} %`,
  change: (n: string, days: number) =>
    days === 1 ? `${n}\u00a0% on the day before` : `${n}\u00a0% on the ${days} days before`,
  noChange: (days: number) =>
    days === 1 ? 'nothing on the day before' : `nothing in the ${days} days before`,
  average: (audio: string) => `${audio} on average`,
  left: 'Credit left',
  pace: (n: string) => (n === '1' ? 'about 1 day at this pace' : `about ${n} days at this pace`),
  paceOfYears: 'more than a year at this pace',
  noPace: 'not used in this time',
  ofAll: 'for all keys and languages',
  alerts: 'Alerts',
  alertLevels: '50, 20, 5, 0\u00a0%',
  alertsTo: 'of credit left, by email to the owners',
  playground: 'Playground, no key',
  empty: 'Nothing was charged in this time.',
  incomplete: 'This is not everything. Choose a shorter time, or reload the page in a minute.',
};
export type UsageTexts = typeof en;

const sw: UsageTexts = {
  title: 'Matumizi',
  lead: 'Sauti iliyolipishwa, sawa na leja. Siku ni za UTC.',
  presets: { month: 'Mwezi huu', lastMonth: 'Mwezi uliopita', week: 'Siku 7 zilizopita' },
  otherDays: 'Chagua siku nyingine',
  from: 'Kuanzia (UTC)',
  to: 'Hadi (UTC)',
  show: 'Onyesha',
  print: 'Chapisha taarifa',
  statementOf: (account) => `Taarifa ya svc-asr ya ${account}`,
  between: (from, to) => `${from} hadi ${to}, UTC`,
  csv: 'Pakua CSV',
  allKeys: 'Funguo zote',
  allModels: 'Lugha zote',
  byKey: 'Kwa ufunguo wa API na modeli',
  byDay: 'Kwa siku',
  key: 'Ufunguo wa API',
  model: 'Modeli',
  sessions: 'Vipindi',
  charged: 'Iliyolipishwa',
  share: 'Sehemu',
  total: 'Jumla',
  percent: (n) => `${n} %`,
  change: (n, days) =>
    days === 1
      ? `${n}\u00a0% kulinganisha na siku iliyotangulia`
      : `${n}\u00a0% kulinganisha na siku ${days} zilizotangulia`,
  noChange: (days) =>
    days === 1 ? 'hakuna siku iliyotangulia' : `hakuna katika siku ${days} zilizotangulia`,
  average: (audio) => `wastani ${audio}`,
  left: 'Salio lililobaki',
  pace: (n) => `takriban siku ${n} kwa kasi hii`,
  paceOfYears: 'zaidi ya mwaka kwa kasi hii',
  noPace: 'haikutumika katika muda huu',
  ofAll: 'kwa funguo na lugha zote',
  alerts: 'Arifa',
  alertLevels: '50, 20, 5, 0\u00a0%',
  alertsTo: 'ya salio lililobaki, kwa barua pepe kwa wamiliki',
  playground: 'Jaribio, bila ufunguo',
  empty: 'Hakuna kilicholipishwa katika muda huu.',
  incomplete: 'Hii si yote. Chagua muda mfupi zaidi, au upakie ukurasa upya baada ya dakika moja.',
};

export const USAGE_TEXTS = { en, sw };

export function useUsageTexts(): UsageTexts {
  return USAGE_TEXTS[useLanguage().language];
}
