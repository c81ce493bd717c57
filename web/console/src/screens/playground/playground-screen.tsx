import { useEffect, useReducer, useRef, useState } from 'react';
import { LIMITS, MODEL_IDS, MODELS, type ModelId } from '@svc-asr/protocol/constants.ts';
import type { Me, PlaygroundCredit } from '@svc-asr/protocol/console/console.ts';
import { formatAudio } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { Link, useLeaveGuard } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { Choice, Field } from '../../design/controls.tsx';
import { Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { usePlaygroundTexts } from '../../texts/playground.ts';
import { CodePanel } from './tools/code-panel.tsx';
import { Controls } from './run-controls.tsx';
import { DropZone } from './drop-zone.tsx';
import { Figures } from './figures.tsx';
import { spokenText } from './tools/export-run.ts';
import { addToHistory, clearHistory, readHistory, type PastRun } from './tools/history.ts';
import { HistoryPanel } from './tools/history-panel.tsx';
import { exported, Receipt } from './receipt.tsx';
import { splitKeyterms } from './keyterms.ts';
import { KeytermsField } from './keyterms-field.tsx';
import { endpointingOf, PauseFields, type Pauses } from './pause-fields.tsx';
import { RAW_EVENTS_MAX, RawEvents, type RawEvent } from './tools/raw-events.tsx';
import { recognise, type Recognition, type Source } from './recognise.ts';
import { Recording } from './recording.ts';
import { ReferenceField, WordErrorRate } from './tools/reference.tsx';
import { follow, IDLE, isRunning, type Run } from './run.ts';
import { otherModel, RunTools } from './tools/run-tools.tsx';
import { SampleButtons } from './sample-buttons.tsx';
import { Transcript } from './transcript.tsx';
import { usePlayback } from './use-playback.ts';

const LENGTHS = [30, LIMITS.audioSecondsDefault, 120, LIMITS.audioSecondsMax];
type View = 'transcript' | 'events' | 'code';
/** The smallest reservation. */
const CREDIT_MIN_MS = 1_000;

export default function PlaygroundScreen({ me }: { me: Me }) {
  const texts = useTexts();
  const tools = usePlaygroundTexts();
  const [model, setModel] = useState<ModelId>(MODEL_IDS[0]);
  const [maxAudioSeconds, setMaxAudioSeconds] = useState<number>(LIMITS.audioSecondsDefault);
  const [keyterms, setKeyterms] = useState('');
  const [numbers, setNumbers] = useState(false);
  const [pauses, setPauses] = useState<Pauses>({ pause: '700', eager: false });
  const [details, setDetails] = useState(false);
  const [reference, setReference] = useState('');
  const [view, setView] = useState<View>('transcript');
  const [events, setEvents] = useState<readonly RawEvent[]>([]);
  const [level, setLevel] = useState(0);
  const [run, dispatch] = useReducer(follow, IDLE);
  // The same audio with the other model.
  const [other, dispatchOther] = useReducer(follow, IDLE);
  const [history, setHistory] = useState(() => readHistory(me.email));
  const recognition = useRef<Recognition | null>(null);
  const source = useRef<Source>({ kind: 'microphone' });
  const recording = useRef(new Recording());
  const sampleText = useRef<string | null>(null);
  const playback = usePlayback(() => recording.current.samples());
  useEffect(() => () => recognition.current?.abort(), []);
  const running = isRunning(run) || isRunning(other);
  const leaving = useLeaveGuard(running);
  const { load: credit } = useLoad<PlaygroundCredit>('/playground/credit');
  const creditMs =
    run.remainingMs ?? (credit.state === 'ready' ? credit.data.available_ms : Infinity);
  // A run may hold the last of the credit.
  const isBroke = !running && creditMs < CREDIT_MIN_MS;
  useSaved(run, me.email, setHistory);
  useSaved(other, me.email, setHistory);

  const settings = {
    maxAudioSeconds,
    keyterms: splitKeyterms(keyterms),
    numbers,
    endpointing: endpointingOf(pauses),
    onLevel: setLevel,
    onRaw: (event: RawEvent) => setEvents((now) => [...now, event].slice(-RAW_EVENTS_MAX)),
  };
  function start(next: Source, chosen: ModelId, continues = false): void {
    // The last run may still be asking the ledger.
    recognition.current?.abort();
    playback.stop();
    setView('transcript');
    source.current = next;
    dispatchOther({ type: 'reset' });
    if (continues) {
      if (next.kind === 'microphone') recording.current.cutAt(run.earlierMs + run.audioMs);
    } else {
      recording.current = new Recording();
      setEvents([]);
    }
    recognition.current = recognise({
      ...settings,
      source: next,
      model: chosen,
      continues,
      on: dispatch,
      onSamples: (samples) => recording.current.add(samples),
    });
  }
  /** The words of a sample must not judge another recording. A text that was typed stays. */
  function forgetSample(): void {
    if (reference === sampleText.current) setReference('');
  }
  function goOn(): void {
    const last = source.current;
    const fromMs = run.earlierMs + run.audioMs;
    start(last.kind === 'file' ? { ...last, fromMs } : last, run.model ?? model, true);
  }
  function compare(): void {
    recognition.current?.abort();
    recognition.current = recognise({
      ...settings,
      source: { kind: 'samples', samples: recording.current.samples() },
      model: otherModel(run.model ?? model),
      continues: false,
      on: dispatchOther,
      onSamples: () => undefined,
    });
  }
  const isCompared = other.phase !== 'idle';
  const isOver = run.phase === 'done' || run.phase === 'failed';
  // A run that was refused recognised nothing, so there is nothing to compare a recording with.
  const isPlayable =
    isOver && run.ledger !== 'asking' && run.ledger !== 'unasked' && !recording.current.isEmpty;
  const shownModel = run.model ?? model;
  const transcript = (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <div className="grid content-start gap-4">
        <Problem run={run} />
        <Problem run={other} />
        <div className={`grid gap-5 ${isCompared ? 'xl:grid-cols-2' : ''}`}>
          <div className="grid min-w-0 content-start gap-2">
            <Transcript
              run={run}
              language={MODELS[shownModel].languageCode}
              title={isCompared ? texts.common.models[shownModel] : texts.playground.transcript}
              hidesTitle={!isCompared}
              testId="transcript"
              playedMs={playback.atMs}
              details={details}
            />
            <Errors run={run} reference={reference} />
          </div>
          {isCompared && other.model !== null && (
            <div className="grid min-w-0 content-start gap-2">
              <Transcript
                run={other}
                language={MODELS[other.model].languageCode}
                title={texts.common.models[other.model]}
                hidesTitle={false}
                testId="transcript-other"
                playedMs={playback.atMs}
                details={details}
              />
              <Errors run={other} reference={reference} />
            </div>
          )}
        </div>
        <label className="flex min-h-6 items-center gap-3 text-sm">
          <input
            type="checkbox"
            className="size-5 accent-accent"
            checked={details}
            onChange={(event) => setDetails(event.target.checked)}
          />
          {tools.details}
        </label>
      </div>
      <Receipt
        run={run}
        name={isCompared ? texts.common.models[shownModel] : undefined}
        onContinue={isCompared ? null : goOn}
      />
      <Receipt
        run={other}
        name={other.model === null ? undefined : texts.common.models[other.model]}
        onContinue={null}
      />
      {isPlayable && !running && (
        <RunTools model={shownModel} playback={playback} onCompare={isCompared ? null : compare} />
      )}
      <Figures run={isCompared ? other : run} />
      <p className="text-xs text-ink-3">{texts.playground.synthetic}</p>
    </div>
  );
  const code = (
    <CodePanel
      model={model}
      maxAudioSeconds={maxAudioSeconds}
      keyterms={splitKeyterms(keyterms)}
      numbers={numbers}
      endpointing={settings.endpointing}
    />
  );
  return (
    <>
      <PageHead title={texts.playground.title} lead={texts.playground.lead} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        {!isBroke && <LowCredit run={run} creditMs={creditMs} maxAudioSeconds={maxAudioSeconds} />}
        <div className="grid gap-5 lg:grid-cols-[19rem_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
          <Controls
            run={isRunning(other) ? other : run}
            level={level}
            limitMs={maxAudioSeconds * 1_000}
            canStart={!isBroke}
            onStart={() => {
              forgetSample();
              start({ kind: 'microphone' }, model);
            }}
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
          <div className="grid min-w-0 self-start lg:sticky lg:top-8 lg:row-span-2">
            <Card>
              <Tabs
                label={texts.playground.title}
                value={view}
                onChange={setView}
                tabs={[
                  { value: 'transcript', label: texts.playground.transcript, panel: transcript },
                  { value: 'events', label: tools.events, panel: <RawEvents events={events} /> },
                  { value: 'code', label: tools.code, panel: code },
                ]}
              />
            </Card>
          </div>
          <Card>
            <div className="grid gap-5">
              <DropZone
                disabled={running || isBroke}
                onFile={(file) => {
                  forgetSample();
                  start({ kind: 'file', file, fromMs: 0 }, model);
                }}
              />
              <SampleButtons
                disabled={running || isBroke}
                onSample={(sample, file) => {
                  setModel(sample.model);
                  setReference(sample.text);
                  sampleText.current = sample.text;
                  start({ kind: 'file', file, fromMs: 0 }, sample.model);
                }}
              />
              <details>
                <summary className="rounded-sm text-sm font-medium">{tools.options}</summary>
                <div className="mt-4 grid gap-5">
                  <ReferenceField text={reference} onChange={setReference} />
                  <KeytermsField
                    text={keyterms}
                    disabled={running}
                    isSupported={run.model === model ? run.takesKeyterms : null}
                    answer={run.model === model ? run.keyterms : null}
                    onChange={setKeyterms}
                  />
                  <label className="flex min-h-6 items-center gap-3 text-sm">
                    <input
                      type="checkbox"
                      className="size-5 accent-accent"
                      disabled={running}
                      checked={numbers}
                      onChange={(event) => setNumbers(event.target.checked)}
                    />
                    {tools.numbers}
                  </label>
                  <PauseFields
                    pauses={pauses}
                    disabled={running}
                    reportsEager={run.model === model ? run.reportsEager : null}
                    onChange={setPauses}
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
              </details>
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

/** Adds a run to the history of this browser, once, when the ledger has answered. */
function useSaved(run: Run, email: string, onSaved: (runs: PastRun[]) => void): void {
  const isOver = run.ledger === 'settled' || run.ledger === 'pending';
  useEffect(() => {
    if (isOver && run.turns.length > 0) onSaved(addToHistory(email, exported(run)));
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isOver]);
}

function Errors({ run, reference }: { run: Run; reference: string }) {
  if (run.phase !== 'done') return null;
  return <WordErrorRate reference={reference} transcript={spokenText(run.turns)} />;
}

/** Says so before and during a run that credit will end before the chosen limit. */
function LowCredit(props: { run: Run; creditMs: number; maxAudioSeconds: number }) {
  const { run } = props;
  const texts = useTexts();
  const running = isRunning(run) && run.reservedMs > 0;
  const creditMs = running ? run.reservedMs : props.creditMs;
  if (creditMs >= props.maxAudioSeconds * 1_000) return null;
  const credit = formatAudio(creditMs, texts);
  return (
    <Notice tone="warn">
      {running ? texts.playground.lowDuring(credit) : texts.playground.lowBefore(credit)}{' '}
      {!running && (
        <Link href="/app/credit" className="underline underline-offset-4">
          {texts.overview.request}
        </Link>
      )}
    </Notice>
  );
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
