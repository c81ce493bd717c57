import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import type { Email, LinkInput } from './texts.ts';

/** A change that could mean a takeover. */
export type NoticeKind =
  | 'passkey_added'
  | 'passkey_removed'
  | 'operator_added'
  | 'operator_removed'
  | 'enrolment_created';

/** What happened to the recipient (`you`), and to another operator (`them`). */
interface NoticeTexts {
  readonly you: Readonly<Record<NoticeKind, string>>;
  readonly them: Readonly<Record<NoticeKind, (email: string) => string>>;
  readonly forYou: (url: string) => string;
  readonly forOperators: (url: string) => string;
}

const TEXTS: Record<ConsoleLanguage, NoticeTexts> = {
  en: {
    you: {
      passkey_added: 'A passkey was added to your svc-asr account',
      passkey_removed: 'A passkey was removed from your svc-asr account',
      operator_added: 'You are now an operator of svc-asr',
      operator_removed: 'You are no longer an operator of svc-asr',
      enrolment_created: 'A code to add a passkey was created for you',
    },
    them: {
      passkey_added: (email) => `svc-asr operator ${email} has a new passkey`,
      passkey_removed: (email) => `A passkey of svc-asr operator ${email} was removed`,
      operator_added: (email) => `${email} is now an operator of svc-asr`,
      operator_removed: (email) => `${email} is no longer an operator of svc-asr`,
      enrolment_created: (email) => `A code to add a passkey was created for ${email}`,
    },
    forYou: (url) => `Your passkeys are listed here:

    ${url}

If you didn't expect this, remove unknown passkeys there now and contact the operator of this service.
`,
    forOperators: (url) => `All operators get this email. The console is here:

    ${url}

If nobody on your team did this, take their operator role away now: svc-admin operators remove EMAIL.
`,
  },
  sw: {
    you: {
      passkey_added: 'Ufunguo wa siri umeongezwa kwenye akaunti yako ya svc-asr',
      passkey_removed: 'Ufunguo wa siri umeondolewa kwenye akaunti yako ya svc-asr',
      operator_added: 'Sasa wewe ni mwendeshaji wa svc-asr',
      operator_removed: 'Wewe si mwendeshaji wa svc-asr tena',
      enrolment_created: 'Msimbo wa kuongeza ufunguo wa siri umeundwa kwa ajili yako',
    },
    them: {
      passkey_added: (email) => `Mwendeshaji wa svc-asr ${email} ana ufunguo mpya wa siri`,
      passkey_removed: (email) => `Ufunguo wa siri wa mwendeshaji ${email} umeondolewa`,
      operator_added: (email) => `${email} sasa ni mwendeshaji wa svc-asr`,
      operator_removed: (email) => `${email} si mwendeshaji wa svc-asr tena`,
      enrolment_created: (email) => `Msimbo wa kuongeza ufunguo wa siri umeundwa kwa ${email}`,
    },
    forYou: (url) => `Funguo zako za siri ziko hapa:

    ${url}

Ikiwa hukutarajia hili, ondoa hapo mara moja funguo usizozijua, na umwandikie mwendeshaji wa huduma hii.
`,
    forOperators: (url) => `Waendeshaji wote hupata barua hii. Konsoli iko hapa:

    ${url}

Ikiwa hakuna kwenye timu yako aliyefanya hivi, mwondolee uendeshaji mara moja: svc-admin operators remove EMAIL.
`,
  },
};

/** Tells a person about a change to their passkeys, or an operator about one of another operator. */
export function securityEmail(input: LinkInput & { kind: NoticeKind; about: string }): Email {
  const texts = TEXTS[input.language];
  const url = new URL('/app/settings', input.publicUrl).href;
  const aboutPasskeys = input.about === input.to && input.kind.startsWith('passkey_');
  return {
    to: input.to,
    subject: input.about === input.to ? texts.you[input.kind] : texts.them[input.kind](input.about),
    text: aboutPasskeys ? texts.forYou(url) : texts.forOperators(url),
  };
}
