import type { NewKey } from '@svc-asr/protocol/console/console.ts';
import { useTexts } from '../../app/language.tsx';
import { Button } from '../../design/controls.tsx';
import { CodeBlock, CopyButton, Dialog } from '../../design/surfaces.tsx';
import { curlExample } from '../playground/tools/code-examples.ts';

/** Shows the new key once. It is stored nowhere else in the page. */
export function NewKeyDialog({ created, onStored }: { created: NewKey; onStored: () => void }) {
  const texts = useTexts();
  const model = created.key.models[0];
  return (
    <Dialog title={texts.keys.newTitle} dismissible={false} onClose={onStored}>
      <p className="text-sm text-ink-2">{texts.keys.newLead}</p>
      <div className="flex flex-wrap items-center gap-3 rounded-md bg-accent-soft p-3.5">
        <code
          aria-label={texts.keys.secret}
          className="min-w-0 grow basis-56 font-mono text-sm break-all text-accent-strong select-all"
        >
          {created.secret}
        </code>
        <CopyButton text={created.secret} />
      </div>
      {model !== undefined && (
        <details className="text-sm">
          <summary className="rounded-sm text-ink-2 underline underline-offset-4">
            {texts.keys.tryIt}
          </summary>
          <div className="mt-3">
            <CodeBlock
              label={texts.keys.tryIt}
              syntax="Shell"
              code={curlExample({ baseUrl: location.origin, model, maxAudioSeconds: 60 })}
            />
          </div>
        </details>
      )}
      <div className="flex justify-end">
        <Button kind="primary" icon="check" onClick={onStored}>
          {texts.keys.stored}
        </Button>
      </div>
    </Dialog>
  );
}
