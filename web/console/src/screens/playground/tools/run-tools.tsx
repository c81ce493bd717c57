import { useTexts } from '../../../app/language.tsx';
import { Button } from '../../../design/controls.tsx';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { usePlaygroundTexts } from '../../../texts/playground.ts';
import type { Playback } from '../use-playback.ts';

/** The other of the two models. */
export function otherModel(model: ModelId): ModelId {
  return MODEL_IDS.find((id) => id !== model) ?? model;
}

/** What can be done with the audio of a finished run. */
export function RunTools(props: {
  model: ModelId;
  playback: Playback;
  /** Null: it was compared already. */
  onCompare: (() => void) | null;
}) {
  const texts = usePlaygroundTexts();
  const common = useTexts();
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button icon={props.playback.isPlaying ? 'stop' : 'play'} onClick={props.playback.toggle}>
          {props.playback.isPlaying ? texts.pausePlay : texts.play}
        </Button>
        {props.onCompare !== null && (
          <Button onClick={props.onCompare}>
            {texts.compare(common.common.models[otherModel(props.model)])}
          </Button>
        )}
      </div>
      <p className="text-xs text-ink-3">
        {texts.playNote} {props.onCompare !== null && texts.compareNote}
      </p>
    </div>
  );
}
