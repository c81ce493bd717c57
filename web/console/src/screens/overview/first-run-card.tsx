import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { FirstRun, Me, NewKey } from '@svc-asr/protocol/console/console.ts';
import { get } from '../../app/api.ts';
import { Link, useLeaveGuard } from '../../app/router.tsx';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { Button, Choice } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { Card, CodeBlock, CopyButton, type Syntax } from '../../design/surfaces.tsx';
import { useFirstRunTexts } from '../../texts/first-run.ts';
import { CreateKeyDialog } from '../keys/create-key-dialog.tsx';
import { browserExample, curlExample, serverExample } from '../playground/tools/code-examples.ts';
import {
  environment,
  NODE_PROGRAM,
  PYTHON_PROGRAM,
  TELEPHONE_PROGRAM,
} from './first-run-programs.ts';

const ASK_EVERY_MS = 2_000;
const TABS = ['node', 'python', 'curl', 'browser', 'telephone'] as const;
type Tab = (typeof TABS)[number];
const GUIDES: Record<Tab, string> = {
  node: '/docs/start/quickstart',
  python: '/docs/guides/python',
  curl: '/docs/reference/http',
  browser: '/docs/guides/browser',
  telephone: '/docs/guides/telephony',
};

/** The way from no key to the first words. Steps tick while the page is open. */
export default function FirstRunCard(props: {
  me: Me;
  first: FirstRun;
  /** A step was done while the page was open. */
  onStep: () => void;
}) {
  const texts = useFirstRunTexts();
  const steps = useSteps(props.first, props.onStep);
  const [created, setCreated] = useState<NewKey | null>(null);
  // The key can't be shown again.
  const leaving = useLeaveGuard(created !== null);
  const isDone = steps.key && steps.call && steps.words;
  return (
    <Card title={texts.title} lead={texts.lead}>
      <ol className="grid grid-cols-[minmax(0,1fr)] gap-6">
        <Step at={1} title={texts.key} isDone={steps.key}>
          <KeyStep me={props.me} isDone={steps.key} created={created} onChange={setCreated} />
        </Step>
        <Step at={2} title={texts.call} isDone={steps.call}>
          {!isDone && <Programs secret={created?.secret ?? null} />}
          {!steps.call && steps.key && <Waiting text={texts.waiting} />}
        </Step>
        <Step at={3} title={texts.words} isDone={steps.words}>
          {!steps.words && (
            <>
              <p className="text-sm text-ink-2">{texts.wordsText}</p>
              {steps.call && <Waiting text={texts.wordsWaiting} />}
              <p>
                <Link href="/app/playground" className="link text-sm">
                  {texts.playground}
                </Link>
              </p>
            </>
          )}
        </Step>
      </ol>
      <p role="status" className="mt-5 text-sm empty:hidden">
        {isDone && (
          <>
            {texts.allDone}{' '}
            <a href="/docs/guides/production-checklist" className="link">
              {texts.next}
            </a>
          </>
        )}
      </p>
      {leaving.asked && (
        <ConfirmDialog
          {...texts.leave}
          kind="destroy"
          onConfirm={async () => leaving.go()}
          onClose={leaving.stay}
        />
      )}
    </Card>
  );
}

/** Asks until all steps are done. A step never becomes undone while the page is open. */
function useSteps(first: FirstRun, onStep: () => void): FirstRun {
  const [steps, setSteps] = useState(first);
  const isDone = steps.key && steps.call && steps.words;
  const count = Object.values(steps).filter(Boolean).length;
  const seen = useRef(count);
  useEffect(() => {
    if (seen.current !== count) onStep();
    seen.current = count;
  }, [count, onStep]);
  useEffect(() => {
    if (isDone) return undefined;
    let isAsking = false;
    async function ask(): Promise<void> {
      if (document.hidden || isAsking) return;
      isAsking = true;
      const now = await get<FirstRun>('/first-run').catch(() => null);
      isAsking = false;
      if (now !== null) {
        setSteps((then) => ({
          key: then.key || now.key,
          call: then.call || now.call,
          words: then.words || now.words,
        }));
      }
    }
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isDone]);
  return steps;
}

function Step(props: { at: number; title: string; isDone: boolean; children: ReactNode }) {
  const texts = useFirstRunTexts();
  return (
    <li className="grid grid-cols-[2rem_minmax(0,1fr)] gap-x-3 gap-y-3">
      <span
        aria-hidden="true"
        className={`grid size-8 place-items-center rounded-full text-sm font-semibold ${props.isDone ? 'bg-accent text-on-accent' : 'bg-muted text-ink-2 ring-1 ring-edge'}`}
      >
        {props.isDone ? <Icon name="check" size={18} /> : props.at}
      </span>
      <h3 className="flex min-h-8 items-center text-base">
        {props.title}
        <span aria-live="polite" className="sr-only">
          : {props.isDone ? texts.done : texts.open}
        </span>
      </h3>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 empty:hidden max-sm:col-span-2 sm:col-start-2">
        {props.children}
      </div>
    </li>
  );
}

function KeyStep(props: {
  me: Me;
  isDone: boolean;
  created: NewKey | null;
  onChange: (created: NewKey | null) => void;
}) {
  const texts = useFirstRunTexts();
  const [isAsked, setAsked] = useState(false);
  const { created } = props;
  if (created !== null) {
    return (
      <div className="grid gap-3 rounded-md bg-accent-soft p-4 text-accent-strong">
        <p className="text-sm">{texts.newKeyText}</p>
        <code aria-label={texts.newKey} className="font-mono text-sm break-all select-all">
          {created.secret}
        </code>
        <div className="flex gap-2 max-sm:*:flex-auto max-sm:*:px-2 max-sm:*:whitespace-nowrap">
          <CopyButton text={created.secret} />
          <Button kind="primary" icon="check" onClick={() => props.onChange(null)}>
            {texts.stored}
          </Button>
        </div>
      </div>
    );
  }
  if (props.isDone) return null;
  if (props.me.account?.role !== 'owner') {
    return <p className="text-sm text-ink-2">{texts.keyMember}</p>;
  }
  return (
    <>
      <p className="text-sm text-ink-2">{texts.keyText}</p>
      <div>
        <Button kind="primary" icon="plus" onClick={() => setAsked(true)}>
          {texts.create}
        </Button>
      </div>
      {isAsked && (
        <CreateKeyDialog
          onClose={() => setAsked(false)}
          onCreated={(next) => {
            setAsked(false);
            props.onChange(next);
          }}
        />
      )}
    </>
  );
}

function Programs({ secret }: { secret: string | null }) {
  const texts = useFirstRunTexts();
  const [tab, setTab] = useState<Tab>('node');
  const { code, syntax } = programOf(tab);
  return (
    <>
      <p className="text-sm text-ink-2">{texts.callText}</p>
      <CodeBlock
        label={texts.terminal}
        syntax="Shell"
        code={environment({ baseUrl: location.origin, key: secret })}
      />
      <Choice
        label={texts.program}
        value={tab}
        options={TABS.map((value) => ({ value, label: texts.tabs[value] }))}
        wraps
        onChange={setTab}
      />
      <p className="text-sm text-ink-2">{texts.notes[tab]}</p>
      <div className="grid max-h-80 overflow-y-auto rounded-md">
        <CodeBlock label={`${texts.program}: ${texts.tabs[tab]}`} syntax={syntax} code={code} />
      </div>
      <p>
        <a href={GUIDES[tab]} className="link text-sm">
          {texts.guide}
        </a>
      </p>
    </>
  );
}

function programOf(tab: Tab): { code: string; syntax: Syntax } {
  const input = {
    baseUrl: location.origin,
    model: 'svc-asr-kikuyu-v1',
    maxAudioSeconds: 10,
  } as const;
  switch (tab) {
    case 'node':
      return { code: NODE_PROGRAM, syntax: 'JavaScript' };
    case 'python':
      return { code: PYTHON_PROGRAM, syntax: 'Python' };
    case 'curl':
      return { code: curlExample(input), syntax: 'Shell' };
    case 'browser':
      return {
        code: `${serverExample(input)}\n\n// In the page:\n${browserExample()}`,
        syntax: 'TypeScript',
      };
    case 'telephone':
      return { code: TELEPHONE_PROGRAM, syntax: 'Shell' };
  }
}

function Waiting({ text }: { text: string }) {
  return (
    <p className="flex items-center gap-2.5 text-sm text-ink-2">
      <span aria-hidden="true" className="size-2 animate-pulse rounded-full bg-accent" />
      {text}
    </p>
  );
}
