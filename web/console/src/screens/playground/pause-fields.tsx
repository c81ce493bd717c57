import type { EndpointingOptions } from '@svc-asr/sdk/stream';
import { ENDPOINTING } from '@svc-asr/protocol/constants.ts';
import { Field } from '../../design/controls.tsx';
import { usePlaygroundTexts } from '../../texts/playground.ts';

const PAUSES = ['300', '700', '1500', 'none'] as const;
const EAGER_MS = 250;

export interface Pauses {
  /** The pause that ends a line, in milliseconds. */
  readonly pause: (typeof PAUSES)[number];
  readonly eager: boolean;
}

/** False: only the end of the run ends a line. */
export function endpointingOf({ pause, eager }: Pauses): EndpointingOptions | false {
  if (pause === 'none') return false;
  const silenceMs = Number(pause);
  return eager ? { silenceMs, eagerMs: eagerMsOf(silenceMs) } : { silenceMs };
}

function eagerMsOf(silenceMs: number): number {
  return Math.min(EAGER_MS, silenceMs - ENDPOINTING.eagerMs.below);
}

/** Which pause ends a line, and whether the page shows where one may end. */
export function PauseFields(props: {
  pauses: Pauses;
  disabled: boolean;
  /** False after a stream of this model ignored the option. Null: not known yet. */
  reportsEager: boolean | null;
  onChange: (pauses: Pauses) => void;
}) {
  const texts = usePlaygroundTexts();
  const { pauses, disabled, reportsEager, onChange } = props;
  const eagerMs = pauses.pause === 'none' ? EAGER_MS : eagerMsOf(Number(pauses.pause));
  return (
    <div className="grid gap-3">
      <Field label={texts.pauses} hint={texts.pausesHint}>
        {(control) => (
          <select
            {...control}
            className="input select"
            disabled={disabled}
            value={pauses.pause}
            onChange={({ target }) => {
              const pause = PAUSES.find((known) => known === target.value) ?? '700';
              onChange({ ...pauses, pause });
            }}
          >
            {PAUSES.map((value) => (
              <option key={value} value={value}>
                {texts.pauseOptions[value]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <label className="flex min-h-6 items-center gap-3 text-sm">
        <input
          type="checkbox"
          className="size-5 shrink-0 accent-accent"
          disabled={disabled || pauses.pause === 'none'}
          checked={pauses.eager && pauses.pause !== 'none'}
          aria-describedby="eager-note"
          onChange={({ target }) => onChange({ ...pauses, eager: target.checked })}
        />
        {texts.eager}
      </label>
      <p id="eager-note" className="text-xs text-ink-3">
        {reportsEager === false ? texts.eagerUnsupported : texts.eagerHint(eagerMs / 1_000)}
      </p>
    </div>
  );
}
