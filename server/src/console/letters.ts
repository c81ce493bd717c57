import { CONSOLE_LIMITS, type ConsoleLanguage } from '@svc-asr/protocol/console.ts';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Plain text: it is read on every phone, and nothing in it can be clicked by mistake but the console itself. */
const TEXTS = {
  en: {
    codeSubject: (code: string) => `${code} is your svc-asr sign-in code`,
    code: (code: string, minutes: number) => `Your sign-in code is

    ${code}

It works once, for ${minutes} minutes, in the browser that asked for it.
We never ask for it by phone or message. If you did not ask for it, ignore this letter: without the code nobody gets in.
`,
    welcomeSubject: 'You have access to svc-asr',
    welcome: (
      url: string,
    ) => `Welcome. You can now sign in to the svc-asr console with this e-mail address:

    ${url}

There you speak into the playground, create the API key for your server and watch what you use.
`,
    passkeySubject: 'A passkey was added to your svc-asr account',
    passkey: (
      url: string,
    ) => `From now on it signs you in to the svc-asr console. You see all of your passkeys here:

    ${url}

If it was not you, remove it there at once, and write to the operator of this service.
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
    welcome: (
      url: string,
    ) => `Karibu. Sasa unaweza kuingia kwenye konsoli ya svc-asr kwa anwani hii ya barua pepe:

    ${url}

Huko utaongea kwenye jaribio, utaunda ufunguo wa API wa seva yako na kuona unachotumia.
`,
    passkeySubject: 'Ufunguo wa siri umeongezwa kwenye akaunti yako ya svc-asr',
    passkey: (
      url: string,
    ) => `Kuanzia sasa unakuingiza kwenye konsoli ya svc-asr. Funguo zako zote za siri ziko hapa:

    ${url}

Ikiwa si wewe uliyeuongeza, uondoe hapo mara moja, na umwandikie mwendeshaji wa huduma hii.
`,
  },
} as const satisfies Record<ConsoleLanguage, unknown>;

export function codeLetter(input: { to: string; code: string; language: ConsoleLanguage }): Letter {
  const texts = TEXTS[input.language];
  const half = CONSOLE_LIMITS.codeDigits / 2;
  const spaced = `${input.code.slice(0, half)} ${input.code.slice(half)}`;
  return {
    to: input.to,
    subject: texts.codeSubject(spaced),
    text: texts.code(spaced, CONSOLE_LIMITS.codeLifetimeMs / 60_000),
  };
}

interface LinkLetter {
  readonly to: string;
  readonly language: ConsoleLanguage;
  readonly publicUrl: string;
}

export function welcomeLetter(input: LinkLetter): Letter {
  const texts = TEXTS[input.language];
  const url = new URL('/app', input.publicUrl).href;
  return { to: input.to, subject: texts.welcomeSubject, text: texts.welcome(url) };
}

export function passkeyLetter(input: LinkLetter): Letter {
  const texts = TEXTS[input.language];
  const url = new URL('/app/settings', input.publicUrl).href;
  return { to: input.to, subject: texts.passkeySubject, text: texts.passkey(url) };
}
