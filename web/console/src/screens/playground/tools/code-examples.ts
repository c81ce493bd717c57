import type { EndpointingOptions } from '@svc-asr/sdk/stream';
import type { ModelId } from '@svc-asr/protocol/constants.ts';

interface ExampleInput {
  readonly baseUrl: string;
  readonly model: ModelId;
  readonly maxAudioSeconds: number;
}

/** Code to copy. Tests read it from the screen and run it. */
export function curlExample({ baseUrl, model, maxAudioSeconds }: ExampleInput): string {
  return `curl ${baseUrl}/v1/asr/sessions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","max_audio_seconds":${maxAudioSeconds}}'`;
}

export function serverExample({ baseUrl, model, maxAudioSeconds }: ExampleInput): string {
  return `import { SvcClient } from '@svc-asr/sdk';

// Keep the key on your server.
const svc = new SvcClient({ baseUrl: '${baseUrl}', apiKey: process.env.SVC_API_KEY });

// Return this JSON from your page's POST /session.
const session = await svc.sessions.create({ model: '${model}', maxAudioSeconds: ${maxAudioSeconds} });`;
}

interface BrowserInput {
  readonly keyterms?: readonly string[];
  readonly numbers?: boolean;
  readonly endpointing?: EndpointingOptions | boolean;
}

export function browserExample(input: BrowserInput = {}): string {
  const { keyterms = [], numbers = false, endpointing = true } = input;
  const list = keyterms.length === 0 ? '' : `, keyterms: ${JSON.stringify(keyterms)}`;
  const digits = numbers ? ', numbers: true' : '';
  const text = numbers ? 'text_formatted' : 'text';
  const lines =
    endpointing === false ? '' : `\n// The service ends each line when the speaker pauses.`;
  return `import { openMicrophone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream } from '@svc-asr/sdk/stream';
${lines}
const stream = openStream({ getSession: fetchSession('/session'), endpointing: ${literal(endpointing)}${list}${digits} });
stream.on('delta', ({ text }) => { live.textContent = text; });${eagerLines(endpointing, text)}
stream.on('final', ({ ${text} }) => { lines.append(${text}, '\\n'); live.textContent = ''; });

const microphone = await openMicrophone({ sink: stream });
stop.onclick = async () => {
  await microphone.stop();
  await stream.finish();
};`;
}

/** As JavaScript: the names of the options need no quotes. */
function literal(endpointing: EndpointingOptions | boolean): string {
  if (typeof endpointing === 'boolean') return String(endpointing);
  const fields = Object.entries(endpointing).map(([name, value]) => `${name}: ${value}`);
  return `{ ${fields.join(', ')} }`;
}

function eagerLines(endpointing: EndpointingOptions | boolean, text: string): string {
  if (typeof endpointing === 'boolean' || endpointing.eagerMs === undefined) return '';
  return `
// The line may have ended. Its final or turn_resumed follows.
stream.on('turn_eager', ({ ${text} }) => { live.textContent = ${text}; });`;
}
