import { useEffect, useId, useLayoutEffect, useRef } from 'react';
import { useTexts } from '../../app/language.tsx';
import { usePlaygroundTexts } from '../../texts/playground.ts';
import { isRunning, isUncertain, meanConfidence, type Run, type Turn } from './run.ts';

const NARROW = '(max-width: 63.99rem)';
/** Within this distance of the end, the transcript follows the last line. */
const FOLLOW_PIXELS = 80;

/**
 * The transcript, one line per turn. Words that may still change are lighter, and uncertain ones are underlined. It
 * scrolls on its own and follows the last line, unless the reader has scrolled up.
 */
export function Transcript(props: {
  run: Run;
  language: string;
  title: string;
  /** The tab above says the same. */
  hidesTitle: boolean;
  testId: string;
  /** Where the recording is played now. The word there is highlighted. */
  playedMs: number | null;
  /** Shows the confidence of each word and why each line ended. */
  details: boolean;
}) {
  const { run, language } = props;
  const id = useId();
  const texts = useTexts();
  const running = isRunning(run);
  const isEmpty = run.turns.length === 0 && run.text === '' && run.eagerText === null;
  const area = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const lastTop = useRef(0);
  const whole = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone the pinned controls need room below the words.
    if (running && matchMedia(NARROW).matches) whole.current?.scrollIntoView();
  }, [running]);
  useLayoutEffect(() => {
    const box = area.current;
    if (box !== null && follows.current) box.scrollTop = box.scrollHeight;
  }, [run.text, run.eagerText, run.turns, running, props.details]);
  return (
    <div ref={whole} className="grid content-start gap-2">
      <h2 id={id} className={props.hidesTitle ? 'sr-only' : 'text-sm font-medium text-ink-2'}>
        {props.title}
      </h2>
      <div
        ref={area}
        lang={language}
        tabIndex={0}
        role="region"
        aria-labelledby={id}
        data-testid={props.testId}
        onScroll={({ currentTarget: box }) => {
          // Our own scrolling is reported late, when there may be more lines. Only a reader scrolls up.
          if (box.scrollHeight - box.scrollTop - box.clientHeight < FOLLOW_PIXELS) {
            follows.current = true;
          } else if (box.scrollTop < lastTop.current) follows.current = false;
          lastTop.current = box.scrollTop;
        }}
        className={`grid min-h-36 content-start gap-2 overflow-y-auto lg:min-h-64 overscroll-contain rounded-sm text-xl leading-9 font-medium wrap-anywhere lg:max-h-112 ${running ? 'max-lg:h-[max(9rem,calc(100dvh-22rem))]' : 'max-lg:max-h-96'}`}
      >
        {/* Screen readers hear finished lines. A line keeps its index when its turn ends. */}
        <div aria-live="polite" className="grid content-start gap-2 empty:hidden">
          {run.turns.map((turn, index) => (
            // eslint-disable-next-line react/no-array-index-key
            <p key={index}>
              <FinalWords turn={turn} playedMs={props.playedMs} details={props.details} />
              {props.details && <LineEnd turn={turn} reason={run.reasons[index]} />}
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
          {texts.playground.uncertainLegend}{' '}
          <span className="pointer-coarse:hidden">{texts.playground.uncertainHint}</span>
        </p>
      )}
    </div>
  );
}

const PLAYED = 'rounded-sm bg-accent-soft text-accent-strong';

function FinalWords(props: { turn: Turn; playedMs: number | null; details: boolean }) {
  const texts = useTexts();
  const { playedMs } = props;
  return props.turn.map((word, index) => {
    const isPlayed = playedMs !== null && word.start_ms <= playedMs && playedMs < word.end_ms;
    const uncertain = isUncertain(word);
    const percent = word.confidence === null ? null : Math.round(100 * word.confidence);
    return (
      // eslint-disable-next-line react/no-array-index-key
      <span key={index}>
        <span
          data-played={isPlayed}
          className={`${isPlayed ? PLAYED : ''} ${uncertain ? 'uncertain' : ''}`}
          {...(percent === null ? {} : { title: texts.playground.confidence(percent) })}
        >
          {word.text}
        </span>
        {props.details && percent !== null && (
          <span lang="" className="ml-0.5 text-xs font-normal text-ink-3 select-none">
            {percent}
          </span>
        )}
        {uncertain && !props.details && (
          // For screen readers only: it is not copied with the text.
          <span lang="" className="sr-only select-none">
            {' '}
            ({texts.playground.uncertain})
          </span>
        )}{' '}
      </span>
    );
  });
}

function LineEnd({ turn, reason }: { turn: Turn; reason: Run['reasons'][number] | undefined }) {
  const texts = usePlaygroundTexts();
  const mean = meanConfidence(turn);
  return (
    <span lang="" className="block text-xs leading-5 font-normal text-ink-3 select-none">
      {mean !== null && `${texts.mean(Math.round(100 * mean))} · `}
      {reason !== undefined && texts.ended(texts.reasons[reason])}
    </span>
  );
}

function GrowingWords({ run }: { run: Run }) {
  const texts = usePlaygroundTexts();
  if (run.eagerText !== null) {
    return (
      <>
        {run.eagerText}{' '}
        <span
          lang=""
          data-testid="may-have-ended"
          className="inline-block rounded-sm bg-muted px-1.5 text-xs leading-5 font-normal text-ink-2 select-none"
        >
          {texts.mayHaveEnded}
        </span>{' '}
      </>
    );
  }
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
    done: texts.playground.noWords,
    failed: '',
  }[run.phase];
  return (
    <span lang="" className="text-base font-normal text-ink-3">
      {sentence}
    </span>
  );
}
