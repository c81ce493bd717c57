import { CONSOLE_LIMITS, type ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';

export interface Email {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Plain text, readable on every phone. The only link is the console's own address. */
const TEXTS = {
  en: {
    codeSubject: (code: string) => `${code} is your svc-asr sign-in code`,
    code: (code: string, minutes: number) => `Your sign-in code is

    ${code}

It works once, for ${minutes} minutes, in the browser that requested it.
We never ask for it by phone or message. If you didn't request it, ignore this email. Nobody can sign in without the code.
`,
    welcomeSubject: 'You have access to svc-asr',
    welcome: (input: {
      url: string;
      credit: string | null;
      quickstart: string;
    }) => `Welcome. You can now sign in to the svc-asr console with this email address:

    ${input.url}

${input.credit === null ? '' : `Your account has ${input.credit} of audio credit.\n`}The quickstart takes you from an API key to your first transcript:

    ${input.quickstart}
`,
    invitationSubject: 'You are invited to an svc-asr account',
    invitation: (
      url: string,
    ) => `You are invited to join an account of the svc-asr speech recognition service.
Sign in with this email address to see who invited you, and to accept or decline:

    ${url}

The invitation expires after 14 days. If you don't know what this is about, ignore this email. Nothing happens unless you accept.
`,
    creditSubject: (level: number) =>
      level === 0 ? 'Your svc-asr credit is used up' : `${level} % of your svc-asr credit is left`,
    credit: (input: { account: string; left: string; url: string }) => `Account: ${input.account}
Audio credit left: ${input.left}

Without credit, new sessions are refused. Request credit here:

    ${input.url}

You get this email once at 50, 20, 5 and 0 %, and again after credit was added.
`,
  },
  sw: {
    codeSubject: (code: string) => `${code} ni msimbo wako wa kuingia svc-asr`,
    code: (code: string, minutes: number) => `Msimbo wako wa kuingia ni

    ${code}

Hutumika mara moja, kwa dakika ${minutes}, kwenye kivinjari kilichouomba.
Hatuuombi kamwe kwa simu au ujumbe. Ikiwa hukuuomba, puuza barua hii: bila msimbo hakuna anayeingia.
`,
    welcomeSubject: 'Una ruhusa ya kutumia svc-asr',
    welcome: (input: {
      url: string;
      credit: string | null;
      quickstart: string;
    }) => `Karibu. Sasa unaweza kuingia kwenye konsoli ya svc-asr kwa anwani hii ya barua pepe:

    ${input.url}

${input.credit === null ? '' : `Akaunti yako ina salio la sauti la ${input.credit}.\n`}Mwongozo wa kuanza unakuongoza kutoka ufunguo wa API hadi maandishi ya kwanza:

    ${input.quickstart}
`,
    invitationSubject: 'Umealikwa kwenye akaunti ya svc-asr',
    invitation: (
      url: string,
    ) => `Umealikwa kujiunga na akaunti ya huduma ya utambuzi wa usemi ya svc-asr.
Ingia kwa anwani hii ya barua pepe ili uone aliyekualika, kisha ukubali au ukatae:

    ${url}

Mwaliko huisha baada ya siku 14. Ikiwa hujui unahusu nini, puuza barua hii. Hakuna kinachotokea usipokubali.
`,
    creditSubject: (level: number) =>
      level === 0
        ? 'Salio lako la svc-asr limekwisha'
        : `Umebakiwa na ${level} % ya salio lako la svc-asr`,
    credit: (input: { account: string; left: string; url: string }) => `Akaunti: ${input.account}
Salio la sauti lililobaki: ${input.left}

Bila salio, vipindi vipya hukataliwa. Omba salio hapa:

    ${input.url}

Barua hii huja mara moja kwenye 50, 20, 5 na 0 %, na tena baada ya salio kuongezwa.
`,
  },
} as const satisfies Record<ConsoleLanguage, unknown>;

export function codeEmail(input: { to: string; code: string; language: ConsoleLanguage }): Email {
  const texts = TEXTS[input.language];
  const half = CONSOLE_LIMITS.codeDigits / 2;
  const spaced = `${input.code.slice(0, half)} ${input.code.slice(half)}`;
  return {
    to: input.to,
    subject: texts.codeSubject(spaced),
    text: texts.code(spaced, CONSOLE_LIMITS.codeLifetimeMs / 60_000),
  };
}

export interface LinkInput {
  readonly to: string;
  readonly language: ConsoleLanguage;
  readonly publicUrl: string;
}

export function welcomeEmail(input: LinkInput & { creditMs: number }): Email {
  const texts = TEXTS[input.language];
  const url = new URL('/app', input.publicUrl).href;
  const quickstart = new URL('/docs/start/quickstart', input.publicUrl).href;
  const credit = input.creditMs === 0 ? null : spellAudio(input.creditMs);
  const text = texts.welcome({ url, credit, quickstart });
  return { to: input.to, subject: texts.welcomeSubject, text };
}

/** Contains no text from the inviter, so that invitations cannot be used to send messages. */
export function invitationEmail(input: LinkInput): Email {
  const texts = TEXTS[input.language];
  const url = new URL('/app', input.publicUrl).href;
  return { to: input.to, subject: texts.invitationSubject, text: texts.invitation(url) };
}

/** How much credit an account has left. The name of the account was checked when it was set. */
export function creditEmail(
  input: LinkInput & { level: number; account: string; leftMs: number },
): Email {
  const texts = TEXTS[input.language];
  const url = new URL('/app/credit', input.publicUrl).href;
  const left = spellAudio(input.leftMs);
  return {
    to: input.to,
    subject: texts.creditSubject(input.level),
    text: texts.credit({ account: input.account, left, url }),
  };
}

/** Units that both languages write alike: "3 h 5 min", "25 s". */
export function spellAudio(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}
