import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { spellAudio, type Email, type LinkInput } from './texts.ts';

/** To operators: `asked`. To owners of the account: the decision. */
export type CreditRequestNotice = 'asked' | 'granted' | 'declined';

interface Facts {
  readonly account: string;
  readonly requested: string;
  readonly granted: string;
  readonly reply: string;
  readonly url: string;
}

const TEXTS: Record<
  ConsoleLanguage,
  Record<CreditRequestNotice, { subject: string; text: (facts: Facts) => string }>
> = {
  en: {
    asked: {
      subject: 'A request for svc-asr credit',
      text: ({ account, requested, url }) => `Account: ${account}
Requested audio credit: ${requested}

Grant or decline it here. All operators get this email:

    ${url}
`,
    },
    granted: {
      subject: 'Your svc-asr credit was increased',
      text: ({ account, granted, reply, url }) => `Account: ${account}
Added audio credit: ${granted}
Note of the operator: ${reply}

Your requests are here:

    ${url}
`,
    },
    declined: {
      subject: 'Your request for svc-asr credit was declined',
      text: ({ account, requested, reply, url }) => `Account: ${account}
Requested audio credit: ${requested}
Reason of the operator: ${reply}

Your requests are here:

    ${url}
`,
    },
  },
  sw: {
    asked: {
      subject: 'Ombi la salio la svc-asr',
      text: ({ account, requested, url }) => `Akaunti: ${account}
Salio la sauti lililoombwa: ${requested}

Likubali au likatae hapa. Waendeshaji wote hupata barua hii:

    ${url}
`,
    },
    granted: {
      subject: 'Salio lako la svc-asr limeongezwa',
      text: ({ account, granted, reply, url }) => `Akaunti: ${account}
Salio la sauti lililoongezwa: ${granted}
Maelezo ya mwendeshaji: ${reply}

Maombi yako yako hapa:

    ${url}
`,
    },
    declined: {
      subject: 'Ombi lako la salio la svc-asr limekataliwa',
      text: ({ account, requested, reply, url }) => `Akaunti: ${account}
Salio la sauti lililoombwa: ${requested}
Sababu ya mwendeshaji: ${reply}

Maombi yako yako hapa:

    ${url}
`,
    },
  },
};

/** The customer's own words are left out, so that a request can't send text into a mailbox. */
export function creditRequestEmail(
  input: LinkInput & {
    kind: CreditRequestNotice;
    account: string;
    requestedMs: number;
    grantedMs: number;
    reply: string;
  },
): Email {
  const { subject, text } = TEXTS[input.language][input.kind];
  const path = input.kind === 'asked' ? '/app/operator/requests' : '/app/credit';
  return {
    to: input.to,
    subject,
    text: text({
      account: input.account,
      requested: spellAudio(input.requestedMs),
      granted: spellAudio(input.grantedMs),
      reply: input.reply,
      url: new URL(path, input.publicUrl).href,
    }),
  };
}
