import { useLanguage } from './language.ts';

/** Texts of the Credit page. They load with that page. */
const en = {
  title: 'Credit',
  lead: 'Ask the operator of this service for audio credit. One second of accepted audio uses one second of credit.',
  available: (audio: string) => `${audio} available.`,
  ask: 'Request credit',
  minutes: 'Audio (minutes)',
  minutesHint: 'At most 600.',
  message: 'What is it for? (optional)',
  messageHint: 'At most 500 characters. Operators and the members of this account read it.',
  send: 'Send the request',
  sent: 'Your request was sent. The owners of this account get an email when the operator has decided.',
  ownersOnly: 'Only owners of this account can request credit.',
  open: (audio: string, when: string) =>
    `You requested ${audio} on ${when}. The operator has not decided yet.`,
  history: 'Requests',
  empty: 'No requests yet.',
  states: { open: 'Open', granted: 'Granted', declined: 'Declined' },
  asked: (audio: string) => `Requested ${audio}`,
  granted: (audio: string) => `Granted ${audio}`,
  reply: (text: string) => `Operator: ${text}`,
};
export type CreditTexts = typeof en;

const sw: CreditTexts = {
  title: 'Salio',
  lead: 'Mwombe mwendeshaji wa huduma hii salio la sauti. Sekunde moja ya sauti iliyopokelewa hutumia sekunde moja ya salio.',
  available: (audio) => `${audio} linapatikana.`,
  ask: 'Omba salio',
  minutes: 'Sauti (dakika)',
  minutesHint: 'Zisizozidi 600.',
  message: 'Ni la nini? (si lazima)',
  messageHint: 'Herufi zisizozidi 500. Waendeshaji na wanachama wa akaunti hii huisoma.',
  send: 'Tuma ombi',
  sent: 'Ombi lako limetumwa. Wamiliki wa akaunti hii watapata barua pepe mwendeshaji akiamua.',
  ownersOnly: 'Wamiliki wa akaunti hii pekee wanaweza kuomba salio.',
  open: (audio, when) => `Uliomba ${audio} tarehe ${when}. Mwendeshaji bado hajaamua.`,
  history: 'Maombi',
  empty: 'Hakuna maombi bado.',
  states: { open: 'Wazi', granted: 'Limekubaliwa', declined: 'Limekataliwa' },
  asked: (audio) => `Uliomba ${audio}`,
  granted: (audio) => `Umepewa ${audio}`,
  reply: (text) => `Mwendeshaji: ${text}`,
};

export const CREDIT_TEXTS = { en, sw };

export function useCreditTexts(): CreditTexts {
  return CREDIT_TEXTS[useLanguage().language];
}
