import { useState } from 'react';
import type { EndpointingOptions } from '@svc-asr/sdk/stream';
import type { ModelId } from '@svc-asr/protocol/constants.ts';
import { useTexts } from '../../../app/language.tsx';
import { Choice } from '../../../design/controls.tsx';
import { CodeBlock } from '../../../design/surfaces.tsx';
import { browserExample, curlExample, serverExample } from './code-examples.ts';

type Place = 'server' | 'browser' | 'curl';

export function CodePanel(props: {
  model: ModelId;
  maxAudioSeconds: number;
  keyterms: readonly string[];
  numbers: boolean;
  endpointing: EndpointingOptions | false;
}) {
  const { model, maxAudioSeconds, keyterms, numbers, endpointing } = props;
  const texts = useTexts();
  const [place, setPlace] = useState<Place>('server');
  const input = { baseUrl: location.origin, model, maxAudioSeconds };
  const code = {
    server: serverExample(input),
    browser: browserExample({ keyterms, numbers, endpointing }),
    curl: curlExample(input),
  }[place];
  return (
    <div>
      <div className="mb-4 max-w-lg">
        <Choice
          label={texts.playground.code}
          value={place}
          options={[
            { value: 'server', label: texts.playground.server },
            { value: 'browser', label: texts.playground.browser },
            { value: 'curl', label: texts.playground.curl },
          ]}
          onChange={setPlace}
        />
      </div>
      <CodeBlock
        code={code}
        label={texts.playground.code}
        syntax={place === 'curl' ? 'Shell' : 'TypeScript'}
      />
      <a
        href="/docs/reference/stream"
        className="mt-4 inline-block rounded-sm text-sm text-ink-2 underline underline-offset-4 hover:text-ink"
      >
        {texts.nav.reference}
      </a>
    </div>
  );
}
