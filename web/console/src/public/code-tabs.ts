import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import {
  browserExample,
  curlExample,
  serverExample,
} from '../screens/playground/tools/code-examples.ts';
import { EXAMPLES } from './examples.ts';
import type { PublicTexts } from './texts.ts';

/** The examples name the page's own address, so that they can be copied and run. */
const CODE = { baseUrl: '{{public_url}}', model: MODEL_IDS[0], maxAudioSeconds: 60 } as const;

const PYTHON_EXAMPLE = `import os
from svc_asr import transcribe_file

# SVC_API_KEY is your API key.
os.environ["SVC_BASE_URL"] = "${CODE.baseUrl}"
print(transcribe_file("recording.mp3", model="${CODE.model}").text)`;

const WORDS = EXAMPLES[0]?.words.map(({ text }) => text) ?? [];
const ANSWER = `<span class="code-dim">→</span> { "websocket_url": "wss://…", "websocket_protocols": ["svc.realtime.v1", "svc.auth.…"],
    "expires_at": "…", "credits": { "reserved": 60, "remaining": 3540 } }

<span class="code-dim">←</span> {"type":"delta","text":"<span class="code-bright">${WORDS.slice(0, 2).join(' ')}</span>"}
<span class="code-dim">←</span> {"type":"final","text":"<span class="code-bright">${WORDS.join(' ')}</span>","billable_ms":3000}`;

/** Tabs without a script: the chosen radio button shows its panel. Copying takes a script. */
export function codeTabs(texts: PublicTexts['how']): string {
  const tabs = [
    { id: 'curl', label: 'curl', code: curlExample(CODE), answer: ANSWER },
    { id: 'node', label: 'Node', code: serverExample(CODE) },
    { id: 'browser', label: texts.page, code: browserExample() },
    { id: 'python', label: 'Python', code: PYTHON_EXAMPLE },
  ];
  const labels = tabs
    .map(
      ({ id, label }, at) => `
        <label class="rounded-sm px-3 py-2 text-sm text-[#8ea39a] has-checked:bg-[#1c2824] has-checked:text-[#dfe9e4] has-focus-visible:outline-2 has-focus-visible:outline-accent">
          <input class="sr-only" type="radio" name="code" id="code-${id}"${at === 0 ? ' checked' : ''}>${label}</label>`,
    )
    .join('');
  const scrolls = 'tabindex="0" role="region" class="overflow-x-auto text-sm leading-6';
  const panels = tabs
    .map(
      ({ id, label, code, answer }) => `
        <div class="code-panel code-${id}">
          <pre ${scrolls} p-5 sm:p-7" aria-label="${label}"><code>${code}</code></pre>
          ${answer === undefined ? '' : `<pre ${scrolls} border-t border-[#24312c] p-5 sm:p-7" aria-label="${texts.answer}">${answer}</pre>`}
        </div>`,
    )
    .join('');
  return `
      <div class="code code-tabs mt-10 rounded-lg">
        <div class="flex items-start justify-between gap-2 border-b border-[#24312c] p-2 font-sans">
          <fieldset class="flex flex-wrap gap-1"><legend class="sr-only">${texts.code}</legend>${labels}</fieldset>
          <button hidden type="button" class="button button-code" data-copy-code data-copied="${texts.copied}" data-failed="${texts.copyFailed}">${texts.copy}</button>
        </div>
        ${panels}
      </div>`;
}
