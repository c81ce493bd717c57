import { useLanguage } from './language.ts';

/** Texts of the playground's tools. They load with that page. */
const en = {
  samples: 'Or try a sample',
  sampleOf: (language: string, n: number) => `${language} ${n}`,
  sampleFailed: 'The sample could not be loaded. Check your connection and try again.',
  numbers: 'Write numbers as digits',
  pauses: 'A line ends',
  pausesHint: 'The service listens for pauses. Its default is 0.7 s.',
  pauseOptions: {
    '300': 'after a pause of 0.3 s',
    '700': 'after a pause of 0.7 s',
    '1500': 'after a pause of 1.5 s',
    none: 'only when you stop',
  },
  eager: 'Show where a line may end',
  eagerHint: (seconds: number) =>
    `After a pause of ${seconds} s. If you go on, the mark goes away. It costs nothing.`,
  eagerUnsupported: 'This model cannot report it, so the option is ignored.',
  mayHaveEnded: 'may have ended here',
  details: 'Show confidence and why each line ended',
  reasons: {
    flush: 'you stopped',
    endpoint: 'a pause',
    max_audio_reached: 'the limit of the session',
    idle_timeout: 'no audio for a minute',
    session_time_limit: 'the longest time of a session',
    draining: 'a restart of the service',
    closing: 'the connection closed',
  },
  ended: (reason: string) => `Ended: ${reason}`,
  mean: (percent: number) => `Mean confidence ${percent} %`,
  percent: (n: number) => `${n} %`,
  play: 'Play the recording',
  pausePlay: 'Stop playing',
  playNote:
    'Words light up while they are played. The audio is only in this page, until the next run.',
  compare: (language: string) => `Recognise it in ${language} too`,
  compareNote: 'The same audio goes to the other model and is charged once more.',
  reference: 'Reference text',
  referenceHint:
    'What was really said. The word error rate is computed in this page, and the text is not sent.',
  wer: (rate: string) => `Word error rate ${rate} %.`,
  werCount: (errors: number, words: number) =>
    `${errors} wrong, missing or extra for ${words === 1 ? '1 word' : `${words} words`}.`,
  werFolded: (rate: string) => `Without tildes: ${rate} %.`,
  options: 'Options',
  events: 'Events',
  eventsNone: 'Start a run. The messages of its stream appear here.',
  code: 'Code',
  eventsLead: 'The messages of the stream as the service sent them, with seconds since the start.',
  messages: 'Messages of the stream',
};
export type PlaygroundTexts = typeof en;

const sw: PlaygroundTexts = {
  samples: 'Au jaribu mfano',
  sampleOf: (language, n) => `${language} ${n}`,
  sampleFailed: 'Mfano haukupakiwa. Angalia mtandao wako kisha ujaribu tena.',
  numbers: 'Andika namba kwa tarakimu',
  pauses: 'Mstari huisha',
  pausesHint: 'Huduma hutambua mapumziko. Kawaida ni sekunde 0.7.',
  pauseOptions: {
    '300': 'baada ya kimya cha sekunde 0.3',
    '700': 'baada ya kimya cha sekunde 0.7',
    '1500': 'baada ya kimya cha sekunde 1.5',
    none: 'unaposimamisha tu',
  },
  eager: 'Onyesha mahali mstari unapoweza kuisha',
  eagerHint: (seconds) =>
    `Baada ya kimya cha sekunde ${seconds}. Ukiendelea, alama huondoka. Hailipishwi.`,
  eagerUnsupported: 'Modeli hii haiwezi kuionyesha, kwa hiyo chaguo hili halitumiki.',
  mayHaveEnded: 'huenda umeisha hapa',
  details: 'Onyesha uhakika na sababu ya kila mstari kuisha',
  reasons: {
    flush: 'ulisimamisha',
    endpoint: 'kimya',
    max_audio_reached: 'kikomo cha kipindi',
    idle_timeout: 'hakuna sauti kwa dakika moja',
    session_time_limit: 'muda mrefu zaidi wa kipindi',
    draining: 'huduma inaanza upya',
    closing: 'muunganisho ulifungwa',
  },
  ended: (reason) => `Sababu: ${reason}`,
  mean: (percent) => `Wastani wa uhakika ${percent} %`,
  percent: (n) => `${n} %`,
  play: 'Cheza rekodi',
  pausePlay: 'Acha kucheza',
  playNote:
    'Maneno huangaziwa yanapochezwa. Sauti iko kwenye ukurasa huu tu, hadi jaribio linalofuata.',
  compare: (language) => `Itambue kwa ${language} pia`,
  compareNote: 'Sauti hiyo hiyo huenda kwa modeli nyingine na hulipishwa tena.',
  reference: 'Maandishi ya kulinganisha',
  referenceHint:
    'Kilichosemwa hasa. Kiwango cha makosa hukokotolewa kwenye ukurasa huu, na maandishi hayatumwi.',
  wer: (rate) => `Kiwango cha maneno yenye makosa ${rate} %.`,
  werCount: (errors, words) => `Makosa ${errors} kwa maneno ${words}.`,
  werFolded: (rate) => `Bila tilde: ${rate} %.`,
  options: 'Chaguo',
  events: 'Matukio',
  eventsNone: 'Anza jaribio. Matukio ya mkondo wake yataonekana hapa.',
  code: 'Programu',
  eventsLead: 'Matukio ya mkondo jinsi huduma ilivyoyatuma, pamoja na sekunde tangu mwanzo.',
  messages: 'Matukio ya mkondo',
};

export const PLAYGROUND_TEXTS = { en, sw };

export function usePlaygroundTexts(): PlaygroundTexts {
  return PLAYGROUND_TEXTS[useLanguage().language];
}
