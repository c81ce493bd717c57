import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';

/** The texts of the public page. The Swahili ones were not reviewed by a native speaker. */
const en = {
  other: { label: 'Kiswahili', href: '/sw', code: 'sw' },
  head: {
    title: 'svc-asr: live transcripts for Kikuyu and Dholuo',
    description:
      'A streaming speech recognition API for Kikuyu and Dholuo. Pay for accepted audio, to the second.',
  },
  nav: {
    skip: 'Skip to content',
    how: 'How it works',
    accuracy: 'Accuracy',
    price: 'Price',
    quickstart: 'Quickstart',
    docs: 'Docs',
    changelog: 'Changelog',
    status: 'Status',
    more: 'More pages',
    signIn: 'Sign in',
    join: 'Join the waitlist',
  },
  preview: 'Preview: synthetic voices only. See accuracy',
  title: 'Live transcripts for Kikuyu and Dholuo.',
  lead: 'A streaming speech recognition API for call lines, captions and voice agents. Words arrive about a second after they are spoken, with ĩ and ũ spelled correctly.',
  start: { free: 'Free in preview', credit: 'Audio credit to start', card: 'No card' },
  example: {
    title: 'A recording and its live transcript',
    language: 'Language',
    play: 'Play',
    pause: 'Pause',
    models: { 'svc-asr-kikuyu-v1': 'Kikuyu', 'svc-asr-dholuo-v1': 'Dholuo' },
    meaning: {
      'svc-asr-kikuyu-v1': 'How are you? I am glad to see you.',
      'svc-asr-dholuo-v1': 'Thank you very much for the help you gave me.',
    },
    note: 'synthetic voice, real output',
  },
  facts: {
    delay: 'until a spoken word is text',
    accuracy: 'wrong words, synthetic voices.',
    real: 'Real voices: not measured',
    charge: 'charged when we fail',
    nothing: 'Nothing',
    stored: 'stored: no audio, no text',
  },
  accuracy: {
    title: 'How accurate is it?',
    lead: 'The bundled models were trained on synthetic speech only. They show how the service works and are not yet suitable for real voices. Wrong words in 100, for synthetic voices:',
    rows: {
      known: 'Voices from the training',
      phone: 'The same over a telephone',
      other: 'Voices of another speech synthesiser',
    },
    real: 'Real voices',
    notMeasured: 'Not measured. Expect many errors.',
    delay: (seconds: string) =>
      `Text follows each ${seconds} s of audio, so a word appears within about that time after it was spoken.`,
    more: 'How this was measured',
  },
  demo: {
    title: 'Or try your own voice',
    lead: (seconds: number) =>
      `${seconds} seconds, no account, nothing stored. Expect wrong words: the models are not trained on real voices yet.`,
    start: (seconds: number) => `Speak for ${seconds} seconds`,
    connecting: 'Connecting',
    listening: 'Stop',
    finishing: 'Finishing',
    speak: 'Speak now. The first words appear after about a second.',
    over: 'That was the demo. With an account you get audio credit for more.',
    used: 'The demo was already used from your network today. Play the recording, or join the waitlist.',
    closed: 'The demo has no credit left for today. Play the recording, or come back tomorrow.',
    busy: 'Somebody else is using the demo. Try again in half a minute.',
    denied: 'Microphone access is blocked. Allow it in the address bar, then try again.',
    missing: 'No microphone was found. Connect one, then try again.',
    failed: 'The demo could not be started. Check your connection and try again.',
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
    code: 'Code examples',
    copy: 'Copy',
    copied: 'Copied',
    copyFailed: 'Failed',
    answer: 'The response, and then what the stream sends',
    page: 'Browser',
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
    preview: 'Free while in preview.',
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
    doneTitle: "You're on the list",
    done: "If this address was new to us, it is on the list now. We'll email you when it's your turn.",
    meanwhile: 'Meanwhile',
    quickstart: 'Read the quickstart',
    local: 'Run the service on your machine',
    invalid: 'Enter an email address, such as name@example.com.',
    failed: 'Your request could not be sent. Check your connection and try again.',
    busy: 'Too many requests. Try again in a few minutes.',
    script: 'This form needs JavaScript.',
    privacy: 'We use your address only to answer this request.',
  },
  foot: {
    privacy: 'Privacy',
    terms: 'Terms',
    source: 'A streaming speech recognition API for Kikuyu and Dholuo.',
  },
};
export type PublicTexts = typeof en;

const sw: PublicTexts = {
  other: { label: 'English', href: '/', code: 'en' },
  head: {
    title: 'svc-asr: maandishi ya papo hapo ya Gĩkũyũ na Dholuo',
    description:
      'API ya kutambua usemi wa Gĩkũyũ na Dholuo papo hapo. Lipia sauti iliyopokelewa tu, kwa sekunde.',
  },
  nav: {
    skip: 'Ruka hadi yaliyomo',
    how: 'Jinsi inavyofanya kazi',
    accuracy: 'Usahihi',
    price: 'Bei',
    quickstart: 'Mwongozo wa kuanza',
    docs: 'Nyaraka',
    changelog: 'Mabadiliko',
    status: 'Hali ya huduma',
    more: 'Kurasa zaidi',
    signIn: 'Ingia',
    join: 'Jiunge na orodha',
  },
  preview: 'Majaribio: sauti za kompyuta tu. Tazama usahihi',
  title: 'Gĩkũyũ na Dholuo, zikiandikwa zinaposemwa.',
  lead: 'API ya kutambua usemi kwa laini za simu, manukuu na mawakala wa sauti. Maneno hufika takriban sekunde moja baada ya kusemwa, na ĩ na ũ zikiwa sahihi.',
  start: {
    free: 'Bila malipo wakati wa majaribio',
    credit: 'Salio la sauti la kuanzia',
    card: 'Bila kadi',
  },
  example: {
    title: 'Sauti iliyorekodiwa na maandishi yake ya papo hapo',
    language: 'Lugha',
    play: 'Cheza',
    pause: 'Simamisha',
    models: { 'svc-asr-kikuyu-v1': 'Gĩkũyũ', 'svc-asr-dholuo-v1': 'Dholuo' },
    meaning: {
      'svc-asr-kikuyu-v1': 'Hujambo? Nimefurahi kukuona.',
      'svc-asr-dholuo-v1': 'Asante sana kwa msaada ulionipa.',
    },
    note: 'sauti ya kompyuta, matokeo halisi',
  },
  facts: {
    delay: 'hadi neno lililosemwa liwe maandishi',
    accuracy: 'maneno yenye makosa, sauti za kompyuta.',
    real: 'Sauti halisi: haijapimwa',
    charge: 'hulipishwa tukishindwa sisi',
    nothing: 'Hakuna',
    stored: 'kinachohifadhiwa: si sauti, si maandishi',
  },
  accuracy: {
    title: 'Ni sahihi kiasi gani?',
    lead: 'Modeli zinazokuja na huduma hii zilifunzwa kwa sauti za kompyuta pekee. Zinaonyesha jinsi huduma inavyofanya kazi; bado hazifai kwa sauti halisi. Maneno yenye makosa katika 100, kwa sauti za kompyuta:',
    rows: {
      known: 'Sauti zilizotumika kufunza',
      phone: 'Sauti hizo hizo kupitia simu',
      other: 'Sauti za programu nyingine ya usemi',
    },
    real: 'Sauti halisi',
    notMeasured: 'Haijapimwa. Tarajia makosa mengi.',
    delay: (seconds) =>
      `Maandishi hufuata kila sekunde ${seconds} za sauti, hivyo neno huonekana takriban ndani ya muda huo baada ya kusemwa.`,
    more: 'Jinsi ilivyopimwa',
  },
  demo: {
    title: 'Au jaribu kwa sauti yako',
    lead: (seconds) =>
      `Sekunde ${seconds}, bila akaunti, hakuna kinachohifadhiwa. Tarajia maneno yenye makosa: modeli bado hazijafunzwa kwa sauti halisi.`,
    start: (seconds) => `Ongea kwa sekunde ${seconds}`,
    connecting: 'Inaunganisha',
    listening: 'Simamisha',
    finishing: 'Inamalizia',
    speak: 'Ongea sasa. Maneno ya kwanza huonekana baada ya takriban sekunde moja.',
    over: 'Huo ndio mwisho wa jaribio. Ukiwa na akaunti unapata salio la sauti zaidi.',
    used: 'Jaribio limeshatumika leo kutoka kwenye mtandao wako. Cheza rekodi, au jiunge na orodha.',
    closed: 'Salio la majaribio la leo limeisha. Cheza rekodi, au rudi kesho.',
    busy: 'Mtu mwingine anatumia jaribio sasa. Jaribu tena baada ya nusu dakika.',
    denied: 'Maikrofoni imezuiwa. Iruhusu kwenye upau wa anwani, kisha ujaribu tena.',
    missing: 'Hakuna maikrofoni iliyopatikana. Unganisha moja, kisha ujaribu tena.',
    failed: 'Jaribio halikuanza. Angalia mtandao wako kisha ujaribu tena.',
  },
  how: {
    title: 'Maombi mawili. Ufunguo mmoja usiotoka kwenye seva yako.',
    steps: [
      {
        title: 'Seva yako huunda kipindi',
        text: 'POST moja yenye ufunguo wako wa API hutenga muda wa sauti na kurudisha anwani na kibali kinachotumika mara moja, kwa sekunde 60.',
      },
      {
        title: 'Mtumiaji wako huongea',
        text: 'Simu au ukurasa hufungua anwani hiyo na kutuma PCM ya 16 kHz. Maandishi huja sentensi ikiwa bado inasemwa.',
      },
      {
        title: 'Unalipia sauti iliyopokelewa',
        text: 'Ujumbe wa mwisho ni risiti. Muda ambao haukutumika hurudi kwenye akaunti yako kabla muunganisho haujafungwa.',
      },
    ],
    code: 'Mifano ya programu',
    copy: 'Nakili',
    copied: 'Imenakiliwa',
    copyFailed: 'Imeshindikana',
    answer: 'Jibu, kisha kinachotumwa na mkondo',
    page: 'Kivinjari',
  },
  guarantees: {
    title: 'Imetengenezwa kwa bili wazi, mitandao dhaifu na ukaguzi.',
    list: [
      {
        title: 'Bili sahihi',
        text: 'Hitilafu zetu hazikugharimu chochote. Kila kipindi kwenye konsoli yako hueleza kwa nini kiligharimu kiasi hicho.',
      },
      {
        title: 'Kila mkatiko una sababu',
        text: 'Kabla ya mkondo kuisha mapema, ujumbe husema kilichotokea, kama ujaribu tena, na la kufanya.',
      },
      {
        title: 'Hakuna kinachohifadhiwa',
        text: 'Hatuhifadhi sauti wala maandishi. Tunahifadhi tu saa, modeli na urefu wa kila kipindi.',
      },
      {
        title: 'ĩ na ũ ni herufi',
        text: 'Maandishi huja na tahajia sahihi ya Gĩkũyũ, tayari kutafutwa na kusomwa.',
      },
    ],
  },
  price: {
    title: 'Bei kwa muda wa sauti',
    preview: 'Bila malipo wakati wa majaribio.',
    lead: 'Sekunde moja ya sauti iliyopokelewa hutumia sekunde moja ya salio, na jumla hukamilishwa juu mara moja kwa kipindi. Ukimya usioutuma ni bure.',
    head: ['Kinachotokea', 'Kinachotumika'],
    rows: [
      ['Kipindi ambacho sauti ya 41.3 s ilifika', '42 s'],
      ['Kipindi ambacho hakuna aliyeunganisha', '0 s'],
      ['Kipindi kilichoshindwa upande wetu', '0 s'],
      ['Kumsubiri mtumiaji wako aongee', '0 s'],
    ],
    foot: 'Wasanidi waliokubaliwa huanza na salio la sauti.',
  },
  waitlist: {
    title: 'Jiunge na orodha ya kusubiri',
    lead: 'Tunakubali wasanidi wachache kwa wakati. Utapata barua pepe yenye njia ya kuingia.',
    email: 'Anwani ya barua pepe',
    use: 'Utajenga nini? (si lazima)',
    send: 'Jiunge na orodha',
    sending: 'Inatuma',
    doneTitle: 'Uko kwenye orodha',
    done: 'Ikiwa anwani hii ilikuwa mpya kwetu, sasa iko kwenye orodha. Tutakuandikia zamu yako ikifika.',
    meanwhile: 'Kwa sasa',
    quickstart: 'Soma mwongozo wa kuanza',
    local: 'Endesha huduma kwenye kompyuta yako',
    invalid: 'Andika anwani ya barua pepe, kama jina@example.com.',
    failed: 'Ombi lako halikutumwa. Angalia mtandao wako kisha ujaribu tena.',
    busy: 'Maombi ni mengi mno. Jaribu tena baada ya dakika chache.',
    script: 'Fomu hii inahitaji JavaScript.',
    privacy: 'Tunatumia anwani yako kujibu ombi hili tu.',
  },
  foot: {
    privacy: 'Faragha',
    terms: 'Masharti',
    source: 'API ya kutambua usemi wa Gĩkũyũ na Dholuo papo hapo.',
  },
};

export const PUBLIC_TEXTS: Record<ConsoleLanguage, PublicTexts> = { en, sw };
