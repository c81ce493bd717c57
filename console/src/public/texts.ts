import type { ConsoleLanguage } from '@svc-asr/protocol/console.ts';

/** The words of the public page. */
const en = {
  other: { label: 'Kiswahili', href: '/sw', code: 'sw' },
  nav: {
    skip: 'Skip to content',
    how: 'How it works',
    price: 'Price',
    reference: 'API reference',
    signIn: 'Sign in',
    join: 'Join the waitlist',
  },
  title: 'Kikuyu and Dholuo, written while they are spoken.',
  lead: 'A speech recognition API for two languages that the large services leave out. Stream audio in; live transcripts come back, word by word.',
  example: {
    title: 'A recording and its live transcript',
    play: 'Play',
    pause: 'Pause',
    models: { 'svc-asr-kikuyu-v1': 'Kikuyu', 'svc-asr-dholuo-v1': 'Dholuo' },
    meaning: {
      'svc-asr-kikuyu-v1': 'How are you? I am glad to see you.',
      'svc-asr-dholuo-v1': 'Thank you very much for the help you gave me.',
    },
    note: 'A synthetic voice. The words and their times are what the service answered.',
  },
  how: {
    title: 'Two calls. One key that never leaves your server.',
    steps: [
      {
        title: 'Your server reserves',
        text: 'One POST with your API key holds audio credit and returns an address and a credential that works once, for 60 seconds.',
      },
      {
        title: 'Your user speaks',
        text: 'A phone, a page or a call opens the address and streams 16 kHz PCM. Transcripts arrive while the sentence is still being said.',
      },
      {
        title: 'You pay for what was heard',
        text: 'The last message is a receipt. What was not used is back on your account before the socket has closed.',
      },
    ],
  },
  promises: {
    title: 'Made for the bill, the bad line and the auditor.',
    list: [
      {
        title: 'Nothing charged by mistake',
        text: 'Failures of ours cost nothing. Every session in your console says why it cost what it cost.',
      },
      {
        title: 'No silent close',
        text: 'Before a stream ends early, a message says what happened, whether to retry, and what to do.',
      },
      {
        title: 'Nothing kept',
        text: 'No audio and no transcript is stored. We keep when, which model, how long.',
      },
      {
        title: 'ĩ and ũ are letters',
        text: 'Transcripts come with proper Gĩkũyũ spelling, ready for search and for reading.',
      },
    ],
  },
  price: {
    title: 'Priced in audio time',
    lead: 'One second of audio that we accepted uses one second of credit, rounded up once per session. Silence you do not send is free.',
    head: ['What happens', 'What it uses'],
    rows: [
      ['A session in which 41.3 s of audio arrived', '42 s'],
      ['A session that nobody connected to', '0 s'],
      ['A session that failed on our side', '0 s'],
      ['Waiting for your user to speak', '0 s'],
    ],
    foot: 'Approved developers start with audio credit to build with.',
  },
  waitlist: {
    title: 'Join the waitlist',
    lead: 'We approve developers a few at a time. You get an e-mail with the way in.',
    email: 'E-mail address',
    use: 'What will you build? (optional)',
    send: 'Join the waitlist',
    sending: 'Sending',
    done: 'Thank you. If this address is new to us, it is on the list now; we write when it is your turn.',
    invalid: 'Enter an e-mail address, such as name@example.com.',
    failed: 'That did not arrive. Check your connection and try again.',
    busy: 'Too many requests from here. Try again in a few minutes.',
    script: 'This form needs JavaScript.',
    privacy: 'We use your address to answer this request and for nothing else.',
  },
  foot: {
    honest:
      'The weights that ship with this service were trained on synthetic speech only. They show how it works; they are not yet fit for real voices.',
  },
};
export type PublicTexts = typeof en;

const sw: PublicTexts = {
  other: { label: 'English', href: '/', code: 'en' },
  nav: {
    skip: 'Ruka hadi yaliyomo',
    how: 'Jinsi inavyofanya kazi',
    price: 'Bei',
    reference: 'Marejeleo ya API',
    signIn: 'Ingia',
    join: 'Jiunge na orodha',
  },
  title: 'Gĩkũyũ na Dholuo, yakiandikwa yanaposemwa.',
  lead: 'API ya kutambua usemi kwa lugha mbili ambazo huduma kubwa huziacha. Tuma sauti; maandishi hurudi papo hapo, neno kwa neno.',
  example: {
    title: 'Sauti iliyorekodiwa na maandishi yake ya papo hapo',
    play: 'Cheza',
    pause: 'Simamisha',
    models: { 'svc-asr-kikuyu-v1': 'Gĩkũyũ', 'svc-asr-dholuo-v1': 'Dholuo' },
    meaning: {
      'svc-asr-kikuyu-v1': 'Hujambo? Nimefurahi kukuona.',
      'svc-asr-dholuo-v1': 'Asante sana kwa msaada ulionipa.',
    },
    note: 'Sauti ya kompyuta. Maneno na nyakati zake ndivyo huduma ilivyojibu.',
  },
  how: {
    title: 'Miito miwili. Ufunguo mmoja usiotoka kwenye seva yako.',
    steps: [
      {
        title: 'Seva yako hutenga',
        text: 'POST moja yenye ufunguo wako wa API hutenga muda wa sauti na kurudisha anwani na kibali kinachotumika mara moja, kwa sekunde 60.',
      },
      {
        title: 'Mtumiaji wako huongea',
        text: 'Simu au ukurasa hufungua anwani hiyo na kutuma PCM ya 16 kHz. Maandishi huja sentensi ikiwa bado inasemwa.',
      },
      {
        title: 'Unalipia kilichosikika',
        text: 'Ujumbe wa mwisho ni risiti. Muda ambao haukutumika hurudi kwenye akaunti yako kabla muunganisho haujafungwa.',
      },
    ],
  },
  promises: {
    title: 'Imetengenezwa kwa ajili ya bili, mtandao dhaifu na mkaguzi.',
    list: [
      {
        title: 'Hakuna malipo kwa makosa',
        text: 'Hitilafu zetu hazikugharimu chochote. Kila kipindi kwenye konsoli yako hueleza kwa nini kiligharimu kiasi hicho.',
      },
      {
        title: 'Hakuna kukatika kimya kimya',
        text: 'Kabla ya mkondo kuisha mapema, ujumbe husema kilichotokea, kama ujaribu tena, na la kufanya.',
      },
      {
        title: 'Hakuna kinachohifadhiwa',
        text: 'Hatuhifadhi sauti wala maandishi. Tunaweka lini, modeli gani, muda gani.',
      },
      {
        title: 'ĩ na ũ ni herufi',
        text: 'Maandishi huja na tahajia sahihi ya Gĩkũyũ, tayari kutafutwa na kusomwa.',
      },
    ],
  },
  price: {
    title: 'Bei kwa muda wa sauti',
    lead: 'Sekunde moja ya sauti tuliyoipokea hutumia sekunde moja ya salio, ikikamilishwa juu mara moja kwa kipindi. Ukimya usioutuma ni bure.',
    head: ['Kinachotokea', 'Kinachotumika'],
    rows: [
      ['Kipindi ambacho sauti ya 41.3 s ilifika', '42 s'],
      ['Kipindi ambacho hakuna aliyeunganisha', '0 s'],
      ['Kipindi kilichoshindwa upande wetu', '0 s'],
      ['Kumsubiri mtumiaji wako aongee', '0 s'],
    ],
    foot: 'Wasanidi waliokubaliwa huanza na salio la sauti la kujengea.',
  },
  waitlist: {
    title: 'Jiunge na orodha ya kusubiri',
    lead: 'Tunakubali wasanidi wachache kwa wakati. Utapata barua pepe yenye njia ya kuingia.',
    email: 'Anwani ya barua pepe',
    use: 'Utajenga nini? (si lazima)',
    send: 'Jiunge na orodha',
    sending: 'Inatuma',
    done: 'Asante. Ikiwa anwani hii ni mpya kwetu, sasa iko kwenye orodha; tutaandika zamu yako ikifika.',
    invalid: 'Andika anwani ya barua pepe, kama jina@example.com.',
    failed: 'Haikufika. Angalia mtandao wako kisha ujaribu tena.',
    busy: 'Maombi mengi mno kutoka hapa. Jaribu tena baada ya dakika chache.',
    script: 'Fomu hii inahitaji JavaScript.',
    privacy: 'Tunatumia anwani yako kujibu ombi hili tu.',
  },
  foot: {
    honest:
      'Modeli zinazokuja na huduma hii zilifunzwa kwa usemi wa kompyuta pekee. Zinaonyesha jinsi inavyofanya kazi; bado hazifai kwa sauti halisi.',
  },
};

export const PUBLIC_TEXTS: Record<ConsoleLanguage, PublicTexts> = { en, sw };
