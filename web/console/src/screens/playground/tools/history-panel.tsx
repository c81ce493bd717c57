import { formatAudio, formatDateTime } from '../../../app/format.ts';
import { useLanguage, useTexts } from '../../../app/language.tsx';
import { MODELS } from '@svc-asr/protocol/constants.ts';
import { Button } from '../../../design/controls.tsx';
import { Card } from '../../../design/surfaces.tsx';
import { textOf } from './export-run.ts';
import type { PastRun } from './history.ts';
import { Exports } from '../receipt.tsx';

export function HistoryPanel({ runs, onClear }: { runs: PastRun[]; onClear: () => void }) {
  const texts = useTexts();
  const { language } = useLanguage();
  if (runs.length === 0) return null;
  return (
    <Card
      title={texts.playground.history}
      lead={texts.playground.historyLead}
      aside={<Button onClick={onClear}>{texts.playground.historyClear}</Button>}
    >
      <ul className="divide-y divide-line">
        {runs.map((run) => (
          <li key={run.id} className="py-2">
            <details className="text-sm">
              <summary className="rounded-sm">
                {formatDateTime(new Date(run.at).toISOString(), language)}
                <span className="text-ink-2">
                  {run.model === null ? '' : ` · ${texts.common.models[run.model]}`}
                  {' · '}
                  <span className="whitespace-nowrap">{formatAudio(run.audioMs, texts)}</span>
                </span>
              </summary>
              <p
                lang={run.model === null ? undefined : MODELS[run.model].languageCode}
                className="my-3 whitespace-pre-line wrap-anywhere"
              >
                {textOf(run.turns)}
              </p>
              <div className="flex flex-wrap gap-2">
                <Exports run={run} />
              </div>
            </details>
          </li>
        ))}
      </ul>
    </Card>
  );
}
