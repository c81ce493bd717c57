import { useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { Button } from '../../design/controls.tsx';
import { Notice } from '../../design/feedback.tsx';
import { usePlaygroundTexts } from '../../texts/playground.ts';
import { SAMPLES, sampleUrl, type Sample } from './samples.ts';

/** Recordings for people without a microphone or a file. */
export function SampleButtons(props: {
  disabled: boolean;
  onSample: (sample: Sample, file: File) => void;
}) {
  const texts = usePlaygroundTexts();
  const common = useTexts();
  const load = useAction(async (sample: Sample) => {
    const response = await fetch(sampleUrl(sample));
    if (!response.ok) throw new Error(String(response.status));
    props.onSample(sample, new File([await response.blob()], `${sample.name}.wav`));
  });
  return (
    <fieldset disabled={props.disabled} className="grid gap-2">
      <legend className="mb-1.5 text-sm font-medium">{texts.samples}</legend>
      <div className="grid grid-cols-2 gap-2">
        {SAMPLES.map((sample) => (
          <Button key={sample.name} title={sample.text} onClick={() => load.run(sample)}>
            {texts.sampleOf(common.common.models[sample.model], numberOf(sample))}
          </Button>
        ))}
      </div>
      {load.error !== null && <Notice tone="bad">{texts.sampleFailed}</Notice>}
    </fieldset>
  );
}

/** Among the samples of the same language. */
function numberOf(sample: Sample): number {
  return SAMPLES.filter(({ model }) => model === sample.model).indexOf(sample) + 1;
}
