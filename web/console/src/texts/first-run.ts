import { useLanguage } from './language.ts';

/** Texts of the first steps on the overview. They load with them. */
const en = {
  title: 'First steps',
  lead: 'Three steps to your first transcript. Each is ticked off when it is done.',
  done: 'Done',
  open: 'Not done yet',
  key: 'Create an API key',
  keyText: 'Your server sends it with every request. It is shown once.',
  keyMember: 'Only owners can create keys. Ask an owner of this account for one.',
  create: 'Create a key',
  newKey: 'Your new API key',
  newKeyText:
    "Store it in your server's secret manager now. It can't be shown again, not even by us.",
  stored: 'I have stored it',
  leave: {
    title: 'Leave without storing the key?',
    lead: "It can't be shown again. You can revoke it later and create another.",
    action: 'Leave',
  },
  call: 'Make a call',
  callText: 'Paste these lines into a terminal. The key is filled in only while it is shown above.',
  waiting: 'Waiting for the first call with a key…',
  words: 'Get your first words',
  wordsText:
    'The Node and Python programs stream a sample recording and print its words as they are recognised.',
  wordsWaiting: 'Waiting for the first words…',
  playground: 'Or speak in the playground',
  terminal: 'In a terminal',
  program: 'Program',
  tabs: {
    node: 'Node',
    python: 'Python',
    curl: 'curl',
    browser: 'Browser',
    telephone: 'Telephone',
  },
  notes: {
    node: 'Save it as words.mjs and run: node words.mjs. It needs Node 22 and no packages.',
    python: 'Save it as words.py and run: pip install websockets, then python words.py.',
    curl: "curl creates a session, which ticks step 2. It can't stream audio.",
    browser: 'Your server creates the session. The page gets only a credential that works once.',
    telephone: 'Calls from Twilio, Asterisk, FreeSWITCH and jambonz become text.',
  },
  guide: 'Read the guide',
  allDone: 'You are set up. Your first words were recognised.',
  next: 'Next: going to production',
};
export type FirstRunTexts = typeof en;

const sw: FirstRunTexts = {
  title: 'Hatua za kwanza',
  lead: 'Hatua tatu hadi maandishi yako ya kwanza. Kila hatua huwekewa alama inapokamilika.',
  done: 'Imekamilika',
  open: 'Bado',
  key: 'Unda ufunguo wa API',
  keyText: 'Seva yako huutuma pamoja na kila ombi. Huonyeshwa mara moja tu.',
  keyMember: 'Wamiliki pekee ndio huunda funguo. Mwombe mmiliki wa akaunti hii.',
  create: 'Unda ufunguo',
  newKey: 'Ufunguo wako mpya wa API',
  newKeyText:
    'Uhifadhi sasa mahali pa siri kwenye seva yako. Hauwezi kuonyeshwa tena, hata na sisi.',
  stored: 'Nimeuhifadhi',
  leave: {
    title: 'Uondoke bila kuhifadhi ufunguo?',
    lead: 'Hauwezi kuonyeshwa tena. Unaweza kuubatilisha baadaye na kuunda mwingine.',
    action: 'Ondoka',
  },
  call: 'Tuma ombi la kwanza',
  callText: 'Bandika mistari hii kwenye terminali. Ufunguo hujazwa tu ukiwa unaonyeshwa hapo juu.',
  waiting: 'Tunasubiri ombi la kwanza lenye ufunguo…',
  words: 'Pata maneno yako ya kwanza',
  wordsText:
    'Programu za Node na Python hutuma rekodi ya mfano na kuchapisha maneno yake yanapotambuliwa.',
  wordsWaiting: 'Tunasubiri maneno ya kwanza…',
  playground: 'Au ongea kwenye Jaribio',
  terminal: 'Kwenye terminali',
  program: 'Programu',
  tabs: { node: 'Node', python: 'Python', curl: 'curl', browser: 'Kivinjari', telephone: 'Simu' },
  notes: {
    node: 'Ihifadhi kama words.mjs kisha endesha: node words.mjs. Inahitaji Node 22, bila vifurushi.',
    python: 'Ihifadhi kama words.py kisha endesha: pip install websockets, halafu python words.py.',
    curl: 'curl huunda kipindi, na hatua ya 2 hukamilika. Haiwezi kutuma sauti.',
    browser: 'Seva yako huunda kipindi. Ukurasa hupata kibali kinachotumika mara moja tu.',
    telephone: 'Simu kutoka Twilio, Asterisk, FreeSWITCH na jambonz huwa maandishi.',
  },
  guide: 'Soma mwongozo',
  allDone: 'Uko tayari. Maneno yako ya kwanza yametambuliwa.',
  next: 'Baadaye: kuanza kutumia rasmi',
};

export const FIRST_RUN_TEXTS = { en, sw };

export function useFirstRunTexts(): FirstRunTexts {
  return FIRST_RUN_TEXTS[useLanguage().language];
}
