import { useEffect, useReducer, useRef, useState } from 'react';
import { LIMITS, MODEL_IDS, MODELS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { formatAudio } from '../../app/format.ts';
import { useTexts } from '../../app/language.tsx';
import { Button, Choice, Field } from '../../design/controls.tsx';
import { Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { CodePanel } from './code-panel.tsx';
import { DropZone } from './drop-zone.tsx';
import { Figures } from './figures.tsx';
import { LevelMeter } from './level-meter.tsx';
import { recognise, type Recognition, type Source } from './recognise.ts';
import { follow, IDLE, isRunning, type Run } from './run.ts';
import { Transcript } from './transcript.tsx';

const LENGTHS = [30, LIMITS.audioSecondsDefault, 120, LIMITS.audioSecondsMax];

export default function PlaygroundScreen() {
  const texts = useTexts();
  const [model, setModel] = useState<ModelId>(MODEL_IDS[0]);
  const [maxAudioSeconds, setMaxAudioSeconds] = useState<number>(LIMITS.audioSecondsDefault);
  const [level, setLevel] = useState(0);
  const [run, dispatch] = useReducer(follow, IDLE);
  const recognition = useRef<Recognition | null>(null);
  useEffect(() => () => recognition.current?.abort(), []);
  const running = isRunning(run);
  function start(source: Source): void {
    recognition.current = recognise({
      source,
      model,
      maxAudioSeconds,
      on: dispatch,
      onLevel: setLevel,
    });
  }
  return (
    <>
      <PageHead title={texts.playground.title} lead={texts.playground.lead} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <div className="grid gap-5 lg:grid-cols-[19rem_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
          <Card>
            <div className="grid gap-5">
              <Choice
                label={texts.playground.language}
                value={model}
                disabled={running}
                options={MODEL_IDS.map((id) => ({ value: id, label: texts.common.models[id] }))}
                onChange={setModel}
              />
              <SpeakButton
                run={run}
                onStart={() => start({ kind: 'microphone' })}
                onStop={() => recognition.current?.stop()}
              />
              <LevelMeter level={level} />
            </div>
          </Card>
          {/* Second on a phone, so that the transcript is visible while you speak. */}
          <div className="grid lg:row-span-2">
            <Card>
              <div className="grid h-full grid-rows-[1fr] content-between gap-5">
                <div className="grid content-start gap-4">
                  <Problem run={run} />
                  <Transcript run={run} language={MODELS[model].languageCode} />
                </div>
                <Figures run={run} />
                {run.phase === 'done' && (
                  <Notice tone="good">
                    {texts.playground.receipt(
                      formatAudio(run.audioMs, texts),
                      formatAudio(run.billableMs, texts),
                    )}
                  </Notice>
                )}
                <p className="text-xs text-ink-3">{texts.playground.synthetic}</p>
              </div>
            </Card>
          </div>
          <Card>
            <div className="grid gap-5">
              <DropZone disabled={running} onFile={(file) => start({ kind: 'file', file })} />
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
        <CodePanel model={model} maxAudioSeconds={maxAudioSeconds} />
      </div>
    </>
  );
}

/** One button for all states of a run, so that it keeps the focus. */
function SpeakButton(props: { run: Run; onStart: () => void; onStop: () => void }) {
  const texts = useTexts();
  const { phase } = props.run;
  if (phase === 'connecting' || phase === 'finishing') {
    return (
      <Button kind="primary" busy className="min-h-14">
        {texts.playground[phase]}
      </Button>
    );
  }
  const listening = phase === 'listening';
  return (
    <Button
      kind={listening ? 'danger' : 'primary'}
      icon={listening ? 'stop' : 'playground'}
      className="min-h-14"
      onClick={listening ? props.onStop : props.onStart}
    >
      {listening ? texts.playground.stop : texts.playground.start}
    </Button>
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
