import { useLanguage } from './language.ts';

/** Whether a new attempt helps: `fix` the client first, `now`, or `never` on its own. */
export type Retry = 'fix' | 'now' | 'never';

interface Told {
  /** What happened, in one sentence. */
  readonly title: string;
  readonly why: string;
  readonly retry: Retry;
  readonly todo: string;
}

/** Says what happened to a session. Texts by the cause of an early end. They load with the page of a session. */
const en = {
  title: 'What happened',
  retries: {
    fix: "Don't retry unchanged.",
    now: 'Retry now.',
    never: "Don't retry.",
  } satisfies Record<Retry, string>,
  docs: 'in the docs',
  closeCode: (code: number) => `Close code ${code}`,
  yours: 'Accepted audio was charged',
  ours: 'Our fault, nothing was charged',
  similar: 'Other failed sessions',
  causes: {
    message_too_large: {
      title: 'A message was too large, so the stream was closed.',
      why: 'Your client sent more than 65,536 bytes of audio, or more than 16 KiB of text, in one message.',
      retry: 'fix',
      todo: 'Send chunks of 6,400 bytes (200 ms), as the SDK does.',
    },
    protocol_error: {
      title: 'Your client broke the WebSocket protocol, so the stream was closed.',
      why: 'A frame was malformed, or a client frame was not masked.',
      retry: 'fix',
      todo: 'Use a maintained WebSocket library, or the SDK. Check that no proxy changes the traffic.',
    },
    invalid_utf8: {
      title: 'A text message was not valid UTF-8, so the stream was closed.',
      why: 'Audio sent as a text message is a common cause.',
      retry: 'fix',
      todo: 'Send audio as binary messages and JSON as text.',
    },
    too_many_errors: {
      title: 'Your client made too many errors, so the stream was closed.',
      why: 'It sent more than ten invalid messages, or more than 20 audio frames under 64 bytes a second.',
      retry: 'fix',
      todo: 'Read the error events: each names what to change.',
    },
    too_many_messages: {
      title: 'Your client sent too many messages, so the stream was closed.',
      why: 'Text messages, pings and pongs are limited to 20 a second. Audio is not counted.',
      retry: 'fix',
      todo: 'Flush at pauses only. You need no keep-alives: the server pings.',
    },
    slow_reader: {
      title: 'Your client read its events too slowly, so the stream was closed.',
      why: 'Events waited on the server until their buffer was full.',
      retry: 'fix',
      todo: 'Read events as they arrive, and do slow work elsewhere.',
    },
    account_inactive: {
      title: 'This account was suspended, so the stream was closed.',
      why: 'New sessions are refused until the account is active again.',
      retry: 'never',
      todo: 'Contact the operator of this service.',
    },
    session_ended: {
      title: 'The operator of this service ended the session.',
      why: 'Your account stays active.',
      retry: 'never',
      todo: 'Contact the operator before you create another session.',
    },
    idle_timeout: {
      title: 'No audio arrived for a minute, so the stream was closed.',
      why: 'A stream without audio holds a recogniser that others need.',
      retry: 'fix',
      todo: 'Close the stream when nobody speaks, and create a session when someone speaks again.',
    },
    slot_reclaimed: {
      title: 'The server was full and this stream was idle, so it was closed.',
      why: 'Idle streams make room when hardly any recogniser is free.',
      retry: 'fix',
      todo: 'Create a session when someone speaks, and close it when they stop.',
    },
    session_time_limit: {
      title: 'The session reached its limit of 15 minutes.',
      why: 'A session lasts at most 15 minutes, with or without audio.',
      retry: 'now',
      todo: 'Create a new session to continue. The SDK does this for you.',
    },
    internal_error: {
      title: 'Our recogniser failed, so the stream ended.',
      why: 'Your client did nothing wrong.',
      retry: 'now',
      todo: 'Create a new session and send all audio again that has no final yet. The SDK does this for you.',
    },
    service_restart: {
      title: 'Our server restarted, so the stream ended.',
      why: 'Your client did nothing wrong.',
      retry: 'now',
      todo: 'Create a new session and send all audio again that has no final yet. The SDK does this for you.',
    },
    initialization_timeout: {
      title: 'Our recogniser did not start in time, so the stream ended.',
      why: 'The server was busy. Your client did nothing wrong.',
      retry: 'now',
      todo: 'Wait a moment, then create a new session. The SDK does this for you.',
    },
    node_lost: {
      title: 'We lost the server that ran this stream.',
      why: 'It stopped without closing its streams. Your client saw a broken connection and did nothing wrong.',
      retry: 'now',
      todo: 'Create a new session and send all audio again that has no final yet. The SDK does this for you.',
    },
    node_lost_before_start: {
      title: 'We lost the server of this session before your client connected.',
      why: 'Your client did nothing wrong.',
      retry: 'now',
      todo: 'Create a new session. It gets another server.',
    },
  } as Record<string, Told>,
  otherError: 'The server closed the stream because of an error of its client.',
  otherFailure: 'The session failed on our side.',
  completed: 'The stream ended normally.',
  limit: 'The session used all its reserved audio and ended.',
  noAudio: 'The stream ended without any audio.',
  expired: 'No client opened this session within a minute.',
  expiredTodo: 'Open the stream right after you create its session.',
  reserved: 'The session is waiting for its client.',
  active: 'The session is streaming now.',
};
export type OutcomeTexts = typeof en;

const again =
  'Unda kipindi kipya na utume tena sauti ambayo haina matokeo ya mwisho. SDK hufanya hivi yenyewe.';
const notYou = 'Programu yako haikukosea.';
const sw: OutcomeTexts = {
  title: 'Kilichotokea',
  retries: {
    fix: 'Usijaribu tena bila kubadilisha kitu.',
    now: 'Jaribu tena sasa.',
    never: 'Usijaribu tena.',
  },
  docs: 'kwenye nyaraka',
  closeCode: (code) => `Msimbo wa kufunga ${code}`,
  yours: 'Sauti iliyopokelewa ililipishwa',
  ours: 'Kosa letu, hakuna kilicholipishwa',
  similar: 'Vipindi vingine vilivyoshindwa',
  causes: {
    message_too_large: {
      title: 'Ujumbe ulikuwa mkubwa mno, kwa hivyo mkondo ulifungwa.',
      why: 'Programu yako ilituma zaidi ya baiti 65,536 za sauti, au zaidi ya KiB 16 za maandishi, katika ujumbe mmoja.',
      retry: 'fix',
      todo: 'Tuma vipande vya baiti 6,400 (ms 200), kama SDK inavyofanya.',
    },
    protocol_error: {
      title: 'Programu yako ilivunja itifaki ya WebSocket, kwa hivyo mkondo ulifungwa.',
      why: 'Fremu ilikuwa na umbo lisilo sahihi.',
      retry: 'fix',
      todo: 'Tumia maktaba ya WebSocket inayotunzwa, au SDK. Hakikisha hakuna proksi inayobadilisha data.',
    },
    invalid_utf8: {
      title: 'Ujumbe wa maandishi haukuwa UTF-8 sahihi, kwa hivyo mkondo ulifungwa.',
      why: 'Mara nyingi sababu ni sauti iliyotumwa kama maandishi.',
      retry: 'fix',
      todo: 'Tuma sauti kama ujumbe wa binary na JSON kama maandishi.',
    },
    too_many_errors: {
      title: 'Programu yako ilifanya makosa mengi mno, kwa hivyo mkondo ulifungwa.',
      why: 'Ilituma zaidi ya jumbe kumi zisizo sahihi, au zaidi ya fremu 20 za sauti chini ya baiti 64 kwa sekunde.',
      retry: 'fix',
      todo: 'Soma matukio ya error: kila moja linasema cha kubadilisha.',
    },
    too_many_messages: {
      title: 'Programu yako ilituma jumbe nyingi mno, kwa hivyo mkondo ulifungwa.',
      why: 'Jumbe za maandishi, ping na pong zina kikomo cha 20 kwa sekunde. Sauti haihesabiwi.',
      retry: 'fix',
      todo: 'Tuma flush kwenye vituo tu. Huhitaji keep-alive: seva hutuma ping.',
    },
    slow_reader: {
      title: 'Programu yako ilisoma matukio polepole mno, kwa hivyo mkondo ulifungwa.',
      why: 'Matukio yalisubiri kwenye seva hadi nafasi yake ikajaa.',
      retry: 'fix',
      todo: 'Soma matukio yanapofika, na ufanye kazi nzito kwingine.',
    },
    account_inactive: {
      title: 'Akaunti hii ilisimamishwa, kwa hivyo mkondo ulifungwa.',
      why: 'Vipindi vipya vinakataliwa hadi akaunti irudishwe.',
      retry: 'never',
      todo: 'Wasiliana na mwendeshaji wa huduma hii.',
    },
    session_ended: {
      title: 'Mwendeshaji wa huduma hii alimaliza kipindi.',
      why: 'Akaunti yako bado inafanya kazi.',
      retry: 'never',
      todo: 'Wasiliana na mwendeshaji kabla ya kuunda kipindi kingine.',
    },
    idle_timeout: {
      title: 'Hakuna sauti iliyofika kwa dakika moja, kwa hivyo mkondo ulifungwa.',
      why: 'Mkondo usio na sauti hushikilia kitambuzi ambacho wengine wanahitaji.',
      retry: 'fix',
      todo: 'Funga mkondo wakati hakuna anayeongea, na uunde kipindi mtu anapoongea tena.',
    },
    slot_reclaimed: {
      title: 'Seva ilijaa na mkondo huu haukuwa ukitumika, kwa hivyo ulifungwa.',
      why: 'Mikondo isiyotumika hutoa nafasi wakati vitambuzi vilivyo huru ni vichache.',
      retry: 'fix',
      todo: 'Unda kipindi mtu anapoongea, na ukifunge anapoacha.',
    },
    session_time_limit: {
      title: 'Kipindi kilifikia kikomo chake cha dakika 15.',
      why: 'Kipindi hudumu dakika 15 tu, kikiwa na sauti au la.',
      retry: 'now',
      todo: 'Unda kipindi kipya ili uendelee. SDK hufanya hivi yenyewe.',
    },
    internal_error: {
      title: 'Kitambuzi chetu kilishindwa, kwa hivyo mkondo uliisha.',
      why: notYou,
      retry: 'now',
      todo: again,
    },
    service_restart: {
      title: 'Seva yetu ilianzishwa upya, kwa hivyo mkondo uliisha.',
      why: notYou,
      retry: 'now',
      todo: again,
    },
    initialization_timeout: {
      title: 'Kitambuzi chetu hakikuanza kwa wakati, kwa hivyo mkondo uliisha.',
      why: `Seva ilikuwa na kazi nyingi. ${notYou}`,
      retry: 'now',
      todo: 'Subiri kidogo, kisha uunde kipindi kipya. SDK hufanya hivi yenyewe.',
    },
    node_lost: {
      title: 'Tulipoteza seva iliyoendesha mkondo huu.',
      why: `Ilisimama bila kufunga mikondo yake. Programu yako iliona muunganisho uliokatika. ${notYou}`,
      retry: 'now',
      todo: again,
    },
    node_lost_before_start: {
      title: 'Tulipoteza seva ya kipindi hiki kabla programu yako haijaunganisha.',
      why: notYou,
      retry: 'now',
      todo: 'Unda kipindi kipya. Kitapata seva nyingine.',
    },
  },
  otherError: 'Seva ilifunga mkondo kwa sababu ya kosa la programu.',
  otherFailure: 'Kipindi kilishindwa upande wetu.',
  completed: 'Mkondo uliisha kawaida.',
  limit: 'Kipindi kilitumia sauti yote iliyotengwa na kikaisha.',
  noAudio: 'Mkondo uliisha bila sauti yoyote.',
  expired: 'Hakuna programu iliyofungua kipindi hiki ndani ya dakika moja.',
  expiredTodo: 'Fungua mkondo mara tu baada ya kuunda kipindi chake.',
  reserved: 'Kipindi kinasubiri programu yake.',
  active: 'Kipindi kinaendelea sasa.',
};

export const OUTCOME_TEXTS = { en, sw };

export function useOutcomeTexts(): OutcomeTexts {
  return OUTCOME_TEXTS[useLanguage().language];
}
