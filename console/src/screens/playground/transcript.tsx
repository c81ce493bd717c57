import { useEffect, useRef } from 'react';
import { useTexts } from '../../app/language.tsx';
import { isRunning, isUncertain, type Run, type Turn } from './run.ts';

const NARROW = '(max-width: 63.99rem)';
/** Within this distance of the end, the transcript follows the last line. */
const FOLLOW_PIXELS = 80;

/**
 * The transcript, one line per turn. Words that may still change are lighter, and uncertain ones are underlined. It
 * scrolls on its own and follows the last line, unless the reader has scrolled up.
 */
export function Transcript({ run, language }: { run: Run; language: string }) {
  const texts = useTexts();
  const running = isRunning(run);
  const isEmpty = run.turns.length === 0 && run.text === '';
  const area = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const whole = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone the pinned controls need room below the words.
    if (running && matchMedia(NARROW).matches) whole.current?.scrollIntoView();
  }, [running]);
  useEffect(() => {
    const box = area.current;
    if (box !== null && follows.current) box.scrollTop = box.scrollHeight;
  }, [run.text, run.turns]);
  return (
    <div ref={whole} className="grid content-start gap-2">
      <h2 id="transcript-title" className="text-sm font-medium text-ink-2">
        {texts.playground.transcript}
      </h2>
      <div
        ref={area}
        lang={language}
        tabIndex={0}
        role="region"
        aria-labelledby="transcript-title"
        data-testid="transcript"
        onScroll={({ currentTarget: box }) => {
          follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < FOLLOW_PIXELS;
        }}
        className={`grid min-h-36 content-start gap-2 overflow-y-auto overscroll-contain rounded-sm text-xl leading-9 font-medium wrap-anywhere lg:max-h-112 ${running ? 'max-lg:h-[max(9rem,calc(100dvh-22rem))]' : 'max-lg:max-h-96'}`}
      >
        {/* Screen readers hear finished lines. A line keeps its index when its turn ends. */}
        <div aria-live="polite" className="grid content-start gap-2 empty:hidden">
          {run.turns.map((turn, index) => (
            // eslint-disable-next-line react/no-array-index-key
            <p key={index}>
              <FinalWords turn={turn} />
            </p>
          ))}
        </div>
        {(running || run.text !== '' || isEmpty) && (
          <p key={run.turns.length} className={running ? 'caret' : ''}>
            {isEmpty ? <Waiting run={run} /> : <GrowingWords run={run} />}
          </p>
        )}
      </div>
      {run.turns.flat().some(isUncertain) && (
        <p className="text-xs text-ink-3">
          <span className="uncertain">{texts.playground.uncertainSample}</span>{' '}
          {texts.playground.uncertainLegend}
        </p>
      )}
    </div>
  );
}

function FinalWords({ turn }: { turn: Turn }) {
  const texts = useTexts();
  return turn.map((word, index) => {
    if (!isUncertain(word)) {
      // eslint-disable-next-line react/no-array-index-key
      return <span key={index}>{word.text} </span>;
    }
    const percent = Math.round(100 * (word.confidence ?? 0));
    return (
      // eslint-disable-next-line react/no-array-index-key
      <span key={index}>
        <span className="uncertain" title={texts.playground.confidence(percent)}>
          {word.text}
        </span>
        {/* For screen readers only: it is not copied with the text. */}
        <span lang="" className="sr-only select-none">
          {' '}
          ({texts.playground.uncertain})
        </span>{' '}
      </span>
    );
  });
}

function GrowingWords({ run }: { run: Run }) {
  let at = 0;
  return run.text
    .split(' ')
    .filter((word) => word !== '')
    .map((text, index) => {
      at += text.length;
      const isStable = at <= run.stableChars;
      at += 1;
      return (
        // A word keeps its index even if its letters change.
        // eslint-disable-next-line react/no-array-index-key
        <span key={index} className={`appear ${isStable ? '' : 'text-ink-3'}`}>
          {text}{' '}
        </span>
      );
    });
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
