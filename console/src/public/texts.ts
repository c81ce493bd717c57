import type { ConsoleLanguage } from '@svc-asr/protocol/console.ts';

/** The texts of the public page. The Swahili ones were not reviewed by a native speaker. */
const en = {
  other: { label: 'Kiswahili', href: '/sw', code: 'sw' },
  nav: {
    skip: 'Skip to content',
    how: 'How it works',
    price: 'Price',
    quickstart: 'Quickstart',
    docs: 'Docs',
    changelog: 'Changelog',
    status: 'Status',
    more: 'More pages',
    signIn: 'Sign in',
    join: 'Join the waitlist',
  },
  title: 'Live transcripts for Kikuyu and Dholuo.',
  lead: 'A speech recognition API for two languages that large services leave out. Stream audio and get live transcripts back, word by word.',
  example: {
    title: 'A recording and its live transcript',
    play: 'Play',
    pause: 'Pause',
    models: { 'svc-asr-kikuyu-v1': 'Kikuyu', 'svc-asr-dholuo-v1': 'Dholuo' },
    meaning: {
      'svc-asr-kikuyu-v1': 'How are you? I am glad to see you.',
      'svc-asr-dholuo-v1': 'Thank you very much for the help you gave me.',
    },
    note: 'A synthetic voice. The words and times are the actual output of the service.',
  },
  how: {
    title: 'Two calls. One key that never leaves your server.',
    steps: [
      {
        title: 'Your server creates a session',
        text: 'One POST request with your API key reserves audio credit and returns a URL and a credential that works once, for 60 seconds.',
      },
      {
        title: 'Your user speaks',
        text: 'A phone, web page or call opens the URL and streams 16 kHz PCM. Transcripts arrive while the sentence is still being spoken.',
      },
      {
        title: 'You pay for accepted audio',
        text: 'The last message is a receipt. Unused credit is back in your account before the connection closes.',
      },
    ],
  },
  guarantees: {
    title: 'Built for clear bills, bad connections and audits.',
    list: [
      {
        title: 'Accurate billing',
        text: 'Our failures are free. Your console explains the price of every session.',
      },
      {
        title: 'Every close has a reason',
        text: 'If a stream ends early, a message first says what happened, whether to retry, and what to do.',
      },
      {
        title: 'Nothing stored',
        text: 'We never store audio or transcripts, only the time, model and length of each session.',
      },
      {
        title: 'ĩ and ũ are letters',
        text: 'Transcripts use proper Gĩkũyũ spelling, ready to read and search.',
      },
    ],
  },
  price: {
    title: 'Priced in audio time',
    lead: "One second of accepted audio uses one second of credit, rounded up once per session. Silence that you don't send is free.",
    head: ['Event', 'Credit used'],
    rows: [
      ['A session with 41.3 s of audio', '42 s'],
      ['A session without a client', '0 s'],
      ['A session that failed on our side', '0 s'],
      ['Waiting for your user to speak', '0 s'],
    ],
    foot: 'Approved developers start with audio credit.',
  },
  waitlist: {
    title: 'Join the waitlist',
    lead: 'We approve developers a few at a time. You will get an email with sign-in instructions.',
    email: 'Email address',
    use: 'What will you build? (optional)',
    send: 'Join the waitlist',
    sending: 'Sending',
    done: "Thank you. If this address is new to us, it is now on the list. We'll email you when it's your turn.",
    invalid: 'Enter an email address, such as name@example.com.',
    failed: 'Your request could not be sent. Check your connection and try again.',
    busy: 'Too many requests. Try again in a few minutes.',
    script: 'This form needs JavaScript.',
    privacy: 'We use your address only to answer this request.',
  },
  foot: {
    honest:
      'The bundled models were trained on synthetic speech only. They show how the service works and are not yet suitable for real voices.',
  },
};
export type PublicTexts = typeof en;

const sw: PublicTexts = {
  other: { label: 'English', href: '/', code: 'en' },
  nav: {
    skip: 'Ruka hadi yaliyomo',
    how: 'Jinsi inavyofanya kazi',
    price: 'Bei',
    quickstart: 'Mwongozo wa kuanza',
    docs: 'Nyaraka',
    changelog: 'Mabadiliko',
    status: 'Hali ya huduma',
    more: 'Kurasa zaidi',
    signIn: 'Ingia',
    join: 'Jiunge na orodha',
  },
  title: 'Gĩkũyũ na Dholuo, zikiandikwa zinaposemwa.',
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
  guarantees: {
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
