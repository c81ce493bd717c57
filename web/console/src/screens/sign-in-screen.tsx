import { createContext, useContext, useState, type FormEvent, type ReactNode } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { CodeRequested, SignInMethods } from '@svc-asr/protocol/console/console.ts';
import { post } from '../app/api.ts';
import { formatTime } from '../app/format.ts';
import { useLanguage, useTexts } from '../app/language.tsx';
import { canUsePasskeys, signInWithPasskey } from '../app/passkeys.ts';
import { useAction } from '../app/use-action.ts';
import { useLoad } from '../app/use-load.ts';
import { Button, TextField } from '../design/controls.tsx';
import { ErrorNotice, Notice } from '../design/feedback.tsx';
import { Logo } from '../design/icons.tsx';
import { Dialog } from '../design/surfaces.tsx';

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Nothing here waits for a sign-in. */
const DIRECTLY = { signIn: 'fail' } as const;

interface SignInProps {
  /** Whether sign-in opens over a page whose session has ended. */
  readonly over?: boolean;
  readonly email?: string;
  readonly onSignedIn: () => Promise<void>;
}

/** Sign-in with an emailed code or a passkey, as a page or over one. */
export function SignIn({ over = false, email = '', onSignedIn }: SignInProps) {
  const [sent, setSent] = useState<Sent | null>(fromAddress);
  const step =
    sent === null ? (
      <EmailStep email={email} onSent={setSent} onSignedIn={onSignedIn} />
    ) : (
      <CodeStep {...sent} onBack={() => setSent(null)} onSent={setSent} onSignedIn={onSignedIn} />
    );
  return <OverPage value={over}>{step}</OverPage>;
}

const OverPage = createContext(false);

interface FrameProps {
  readonly title: string;
  readonly lead: string;
  readonly children: ReactNode;
}

function Frame(props: FrameProps) {
  return useContext(OverPage) ? <DialogFrame {...props} /> : <PageFrame {...props} />;
}

function DialogFrame({ title, lead, children }: FrameProps) {
  const texts = useTexts();
  return (
    <Dialog title={title} dismissible={false} onClose={() => undefined}>
      <p className="text-sm text-ink-2">{texts.signIn.ended}</p>
      <p className="text-sm wrap-anywhere text-ink-2">{lead}</p>
      {children}
    </Dialog>
  );
}

function PageFrame({ title, lead, children }: FrameProps) {
  const texts = useTexts();
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center px-4 py-10">
      <a href="/" className="mb-8 self-center rounded-md">
        <Logo />
      </a>
      <div className="card grid grid-cols-[minmax(0,1fr)] gap-5 p-6 sm:p-8">
        <div>
          <h1 className="text-xl">{title}</h1>
          <p className="mt-1.5 text-sm wrap-anywhere text-ink-2">{lead}</p>
        </div>
        {children}
      </div>
      <p className="mt-6 text-center text-sm text-ink-2">
        {texts.signIn.none}{' '}
        <a className="link" href="/#waitlist">
          {texts.signIn.join}
        </a>
      </p>
    </main>
  );
}

/** Without an email, an operator got the code from `svc-admin operators sign-in-code`. */
type Sent = { email: string | null; challenge: string };

function fromAddress(): Sent | null {
  const challenge = /^#challenge=([0-9a-f-]{36})$/.exec(location.hash)?.[1];
  return challenge === undefined ? null : { email: null, challenge };
}

function useRequestCode(onSent: (sent: Sent) => void) {
  const { language } = useLanguage();
  return useAction(async (email: string) => {
    const answer = await post<CodeRequested>('/sign-in/code', { email, language }, DIRECTLY);
    onSent({ email, challenge: answer.challenge });
  });
}

function EmailStep(props: {
  email: string;
  onSent: (sent: Sent) => void;
  onSignedIn: () => Promise<void>;
}) {
  const texts = useTexts();
  const [email, setEmail] = useState(props.email);
  const [invalid, setInvalid] = useState(false);
  const request = useRequestCode(props.onSent);
  const { load } = useLoad<SignInMethods>('/sign-in/methods', DIRECTLY);
  const { origin = location.origin } = load.state === 'ready' ? load.data : {};
  if (origin !== location.origin) return <WrongAddress origin={origin} />;
  if (load.state === 'ready' && !load.data.email) {
    return <NoEmailStep onSignedIn={props.onSignedIn} />;
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    const valid = EMAIL.test(email.trim());
    setInvalid(!valid);
    if (valid) request.run(email.trim());
  }
  return (
    <Frame title={texts.signIn.title} lead={texts.signIn.lead}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <TextField
          label={texts.common.email}
          error={invalid ? texts.signIn.invalidEmail : null}
          type="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          value={email}
          onChange={setEmail}
        />
        <ErrorNotice error={request.error} />
        <Button kind="primary" type="submit" busy={request.busy}>
          {request.busy ? texts.signIn.sending : texts.signIn.send}
        </Button>
      </form>
      {canUsePasskeys() && (
        <>
          <p className="flex items-center gap-3 text-xs text-ink-3 before:h-px before:grow before:bg-line after:h-px after:grow after:bg-line">
            {texts.signIn.or}
          </p>
          <PasskeyButton onSignedIn={props.onSignedIn} />
        </>
      )}
    </Frame>
  );
}

/** The server accepts sign-ins only from pages of its public address. Any other would be refused without a reason. */
function WrongAddress({ origin }: { origin: string }) {
  const texts = useTexts();
  return (
    <Frame
      title={texts.signIn.wrongAddress}
      lead={texts.signIn.wrongAddressLead(location.origin, origin)}
    >
      <a className="button button-primary" href={`${origin}${location.pathname}${location.search}`}>
        {texts.signIn.wrongAddressOpen}
      </a>
      <p className="text-xs text-ink-3">{texts.signIn.wrongAddressOperator}</p>
    </Frame>
  );
}

/** Without a mail server only passkeys work. Says so before anybody waits for a code. */
function NoEmailStep({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const texts = useTexts();
  return (
    <Frame title={texts.signIn.title} lead={texts.signIn.leadPasskey}>
      <Notice tone="warn">{texts.errors.codes['email_not_configured']}</Notice>
      {canUsePasskeys() && <PasskeyButton onSignedIn={onSignedIn} />}
    </Frame>
  );
}

function PasskeyButton({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const texts = useTexts();
  const use = useAction(async () => {
    await signInWithPasskey();
    await onSignedIn();
  });
  return (
    <div className="grid gap-5">
      <ErrorNotice error={use.error} />
      <Button icon="keys" busy={use.busy} onClick={() => use.run()}>
        {texts.signIn.passkey}
      </Button>
    </div>
  );
}

function CodeStep(
  props: Sent & {
    onBack: () => void;
    onSent: (sent: Sent) => void;
    onSignedIn: () => Promise<void>;
  },
) {
  const texts = useTexts();
  const [code, setCode] = useState('');
  const [invalid, setInvalid] = useState(false);
  const [resentAt, setResentAt] = useState<number | null>(null);
  const { language } = useLanguage();
  const request = useRequestCode((sent) => {
    setCode('');
    setResentAt(Date.now());
    verify.clear();
    props.onSent(sent);
  });
  const verify = useAction(async (digits: string) => {
    await post('/sign-in/verify', { challenge: props.challenge, code: digits }, DIRECTLY);
    await props.onSignedIn();
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    const digits = code.replace(/\D/g, '');
    const valid = digits.length === CONSOLE_LIMITS.codeDigits;
    setInvalid(!valid);
    if (valid) verify.run(digits);
  }
  const { email } = props;
  const heading =
    email === null
      ? { title: texts.signIn.title, lead: texts.signIn.operatorCodeLead }
      : { title: texts.signIn.codeTitle, lead: texts.signIn.codeLead(email) };
  return (
    <Frame {...heading}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <TextField
          label={texts.signIn.code}
          hint={texts.signIn.codeHint}
          error={invalid ? texts.signIn.invalidCode : null}
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          maxLength={12}
          className="text-center font-mono text-xl tracking-[0.22em]"
          value={code}
          onChange={setCode}
        />
        <ErrorNotice error={verify.error ?? request.error} />
        {resentAt !== null && verify.error === null && request.error === null && (
          <Notice tone="good">{texts.signIn.resent(formatTime(resentAt, language))}</Notice>
        )}
        <Button kind="primary" type="submit" busy={verify.busy}>
          {texts.signIn.verify}
        </Button>
        <div className="-mx-3 flex flex-wrap justify-center gap-x-2 sm:justify-between">
          <Button kind="quiet" className="px-3" onClick={props.onBack}>
            {texts.signIn.other}
          </Button>
          {email !== null && (
            <Button
              kind="quiet"
              className="px-3"
              busy={request.busy}
              onClick={() => request.run(email)}
            >
              {texts.signIn.again}
            </Button>
          )}
        </div>
      </form>
    </Frame>
  );
}
