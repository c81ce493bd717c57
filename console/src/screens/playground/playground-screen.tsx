import { useEffect, useReducer, useRef, useState } from 'react';
import { LIMITS, MODEL_IDS, MODELS, type ModelId } from '@svc-asr/protocol/constants.ts';
import type { Me, PlaygroundCredit } from '@svc-asr/protocol/console.ts';
import { formatAudio } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { useLeaveGuard } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { Choice, Field } from '../../design/controls.tsx';
import { Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { CodePanel } from './code-panel.tsx';
import { Controls } from './run-controls.tsx';
import { DropZone } from './drop-zone.tsx';
import { Figures } from './figures.tsx';
import { addToHistory, clearHistory, readHistory } from './history.ts';
import { HistoryPanel } from './history-panel.tsx';
import { exported, Receipt } from './receipt.tsx';
import { splitKeyterms } from './keyterms.ts';
import { KeytermsField } from './keyterms-field.tsx';
import { recognise, type Recognition, type Source } from './recognise.ts';
import { follow, IDLE, isRunning, type Run } from './run.ts';
import { Transcript } from './transcript.tsx';

const LENGTHS = [30, LIMITS.audioSecondsDefault, 120, LIMITS.audioSecondsMax];

export default function PlaygroundScreen({ me }: { me: Me }) {
  const texts = useTexts();
  const [model, setModel] = useState<ModelId>(MODEL_IDS[0]);
  const [maxAudioSeconds, setMaxAudioSeconds] = useState<number>(LIMITS.audioSecondsDefault);
  const [keyterms, setKeyterms] = useState('');
  const [level, setLevel] = useState(0);
  const [run, dispatch] = useReducer(follow, IDLE);
  const [history, setHistory] = useState(() => readHistory(me.email));
  const recognition = useRef<Recognition | null>(null);
  const source = useRef<Source>({ kind: 'microphone' });
  useEffect(() => () => recognition.current?.abort(), []);
  const running = isRunning(run);
  const leaving = useLeaveGuard(running);
  const isOver = run.ledger === 'settled' || run.ledger === 'pending';
  useEffect(() => {
    if (isOver && run.turns.length > 0) setHistory(addToHistory(me.email, exported(run)));
    // Once per run, when the ledger has answered.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isOver]);
  function start(next: Source, continues = false): void {
    // The last run may still be asking the ledger.
    recognition.current?.abort();
    source.current = next;
    recognition.current = recognise({
      source: next,
      model: continues ? (run.model ?? model) : model,
      maxAudioSeconds,
      keyterms: splitKeyterms(keyterms),
      continues,
      on: dispatch,
      onLevel: setLevel,
    });
  }
  function goOn(): void {
    const last = source.current;
    const fromMs = run.earlierMs + run.audioMs;
    start(last.kind === 'file' ? { ...last, fromMs } : last, true);
  }
  return (
    <>
      <PageHead title={texts.playground.title} lead={texts.playground.lead} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <LowCredit run={run} maxAudioSeconds={maxAudioSeconds} />
        <div className="grid gap-5 lg:grid-cols-[19rem_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
          <Controls
            run={run}
            level={level}
            limitMs={maxAudioSeconds * 1_000}
            onStart={() => start({ kind: 'microphone' })}
            onStop={() => recognition.current?.stop()}
          >
            <Choice
              label={texts.playground.language}
              value={model}
              disabled={running}
              options={MODEL_IDS.map((id) => ({ value: id, label: texts.common.models[id] }))}
              onChange={setModel}
            />
          </Controls>
          {/* Second on a phone, so that the transcript is visible while you speak. */}
          <div className="grid min-w-0 lg:row-span-2">
            <Card>
              <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[1fr] content-between gap-5">
                <div className="grid content-start gap-4">
                  <Problem run={run} />
                  <Transcript run={run} language={MODELS[run.model ?? model].languageCode} />
                </div>
                <Receipt run={run} onContinue={goOn} />
                <Figures run={run} />
                <p className="text-xs text-ink-3">{texts.playground.synthetic}</p>
              </div>
            </Card>
          </div>
          <Card>
            <div className="grid gap-5">
              <DropZone
                disabled={running}
                onFile={(file) => start({ kind: 'file', file, fromMs: 0 })}
              />
              <KeytermsField
                text={keyterms}
                disabled={running}
                isSupported={run.model === model ? run.takesKeyterms : null}
                answer={run.model === model ? run.keyterms : null}
                onChange={setKeyterms}
              />
              <Field label={texts.playground.limit}>
                {(control) => (
                  <select
                    {...control}
                    className="input select"
                    disabled={running}
                    value={maxAudioSeconds}
                    onChange={(event) => setMaxAudioSeconds(Number(event.target.value))}
                  >
                    {LENGTHS.map((seconds) => (
                      <option key={seconds} value={seconds}>
                        {formatAudio(seconds * 1_000, texts)}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            </div>
          </Card>
        </div>
        <HistoryPanel
          runs={history}
          onClear={() => {
            clearHistory();
            setHistory([]);
          }}
        />
        <CodePanel
          model={model}
          maxAudioSeconds={maxAudioSeconds}
          keyterms={splitKeyterms(keyterms)}
        />
      </div>
      {leaving.asked && (
        <ConfirmDialog
          {...texts.playground.leave}
          kind="destroy"
          onConfirm={async () => leaving.go()}
          onClose={leaving.stay}
        />
      )}
    </>
  );
}

/** Says so before and during a run that credit will end before the chosen limit. */
function LowCredit({ run, maxAudioSeconds }: { run: Run; maxAudioSeconds: number }) {
  const texts = useTexts();
  const { load } = useLoad<PlaygroundCredit>('/playground/credit');
  if (load.state !== 'ready') return null;
  const limitMs = maxAudioSeconds * 1_000;
  const running = isRunning(run) && run.reservedMs > 0;
  const creditMs = running ? run.reservedMs : (run.remainingMs ?? load.data.available_ms);
  if (creditMs >= limitMs) return null;
  const credit = formatAudio(creditMs, texts);
  const sentence =
    creditMs < 1_000
      ? texts.overview.empty
      : running
        ? texts.playground.lowDuring(credit)
        : texts.playground.lowBefore(credit);
  return <Notice tone="warn">{sentence}</Notice>;
}

function Problem({ run }: { run: Run }) {
  const texts = useTexts();
  if (run.problem === null) return null;
  const { code, message } = run.problem;
  return (
    <Notice tone="bad">
      <p>{texts.playground.errors[code] ?? texts.errors.codes[code] ?? message}</p>
      <p className="mt-1 font-mono text-xs">{code}</p>
    </Notice>
  );
}
