import type { ReactNode } from 'react';
import { useTexts } from '../../app/language.tsx';
import { Button } from '../../design/controls.tsx';
import { Clock } from './clock.tsx';
import { LevelMeter } from './level-meter.tsx';
import { isRunning, type Run } from './run.ts';

/** Start and stop, level and clock. While a phone records, they are pinned above the tab bar. */
export function Controls(props: {
  run: Run;
  level: number;
  limitMs: number;
  /** Whether there is credit for a run. */
  canStart: boolean;
  onStart: () => void;
  onStop: () => void;
  children: ReactNode;
}) {
  const { run } = props;
  const pinned = isRunning(run);
  return (
    <section
      data-testid="controls"
      className={`card p-5 sm:p-6 ${pinned ? 'max-lg:fixed max-lg:inset-x-0 max-lg:bottom-[calc(3.5rem+1px+env(safe-area-inset-bottom))] max-lg:z-10 max-lg:rounded-none max-lg:border-x-0 max-lg:px-4 max-lg:py-2 md:max-lg:bottom-0 md:max-lg:left-60' : ''}`}
    >
      <div className={`grid grid-cols-[minmax(0,1fr)] gap-5 ${pinned ? 'max-lg:gap-1' : ''}`}>
        <div className={pinned ? 'max-lg:hidden' : ''}>{props.children}</div>
        <SpeakButton
          run={run}
          canStart={props.canStart}
          onStart={props.onStart}
          onStop={props.onStop}
        />
        <div className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-2">
          <LevelMeter level={props.level} />
          <Clock run={run} limitMs={props.limitMs} />
        </div>
      </div>
    </section>
  );
}

/** One button for all states of a run, so that it keeps the focus. */
function SpeakButton(props: {
  run: Run;
  canStart: boolean;
  onStart: () => void;
  onStop: () => void;
}) {
  const texts = useTexts();
  const { phase } = props.run;
  if (phase === 'connecting' || phase === 'finishing') {
    return (
      <Button kind="primary" busy className="min-h-14 max-lg:min-h-12">
        {texts.playground[phase]}
      </Button>
    );
  }
  const listening = phase === 'listening';
  return (
    <Button
      kind={listening ? 'danger' : 'primary'}
      icon={listening ? 'stop' : 'playground'}
      className="min-h-14 max-lg:min-h-12"
      disabled={!listening && !props.canStart}
      onClick={listening ? props.onStop : props.onStart}
    >
      {listening ? texts.playground.stop : texts.playground.start}
    </Button>
  );
}
