import { withReplay } from '../src/index.ts';
import { BareRecogniser } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { testEngine } from './conformance.ts';
import { startPooledSubject } from './pooled-subject.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';

const { model, pcm } = speech('kikuyu-2');
const text = (await BareRecogniser.load()).recognise({ model, pcm });

const start = () => startPooledSubject({ modelsDir: MODELS_DIR, model, speech: { pcm, text } });

testEngine('sherpa', start);
testEngine(
  'sherpa with replay',
  async () => {
    const subject = await start();
    return { ...subject, engine: withReplay(subject.engine) };
  },
  { onLoss: 'replay' },
);
