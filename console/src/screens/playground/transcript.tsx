import { useTexts } from '../../app/language.tsx';
import { isRunning, type Run } from './run.ts';

/** Settled words stand firm, the newest ones are still light: they may change. */
export function Transcript({ run, language }: { run: Run; language: string }) {
  const texts = useTexts();
  const words = run.finals.flatMap((text) => text.split(' ')).map((text) => ({ text, firm: true }));
  let at = 0;
  for (const text of run.text.split(' ').filter((word) => word !== '')) {
    at += text.length;
    words.push({ text, firm: at <= run.stableChars });
    at += 1;
  }
  return (
    <section aria-labelledby="transcript-title" className="grid content-start gap-2">
      <h2 id="transcript-title" className="text-sm font-medium text-ink-2">
        {texts.playground.transcript}
      </h2>
      <p
        lang={language}
        aria-live="polite"
        data-testid="transcript"
        className={`min-h-36 text-xl leading-9 font-medium wrap-anywhere ${isRunning(run) ? 'caret' : ''}`}
      >
        {words.map((word, index) => (
          // A word keeps its place in the sentence even if its letters change.
          // eslint-disable-next-line react/no-array-index-key
          <span key={index} className={`appear ${word.firm ? '' : 'text-ink-3'}`}>
            {word.text}{' '}
          </span>
        ))}
        {words.length === 0 && <Waiting run={run} />}
      </p>
    </section>
  );
}

function Waiting({ run }: { run: Run }) {
  const texts = useTexts();
  const sentence = {
    idle: texts.playground.placeholder,
    connecting: `${texts.playground.connecting}…`,
    listening: texts.playground.listening,
    finishing: `${texts.playground.finishing}…`,
    done: texts.playground.nothingHeard,
    failed: '',
  }[run.phase];
  return (
    <span lang="" className="text-base font-normal text-ink-3">
      {sentence}
    </span>
  );
}
