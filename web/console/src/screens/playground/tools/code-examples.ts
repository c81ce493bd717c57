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

export function browserExample(keyterms: readonly string[], numbers = false): string {
  const list = keyterms.length === 0 ? '' : `, keyterms: ${JSON.stringify(keyterms)}`;
  const digits = numbers ? ', numbers: true' : '';
  const text = numbers ? 'text_formatted' : 'text';
  return `import { openMicrophone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream } from '@svc-asr/sdk/stream';

// The service ends each line when the speaker pauses.
const stream = openStream({ getSession: fetchSession('/session'), endpointing: true${list}${digits} });
stream.on('delta', ({ text }) => { live.textContent = text; });
stream.on('final', ({ ${text} }) => { lines.append(${text}, '\\n'); live.textContent = ''; });

const microphone = await openMicrophone({ sink: stream });
stop.onclick = async () => {
  await microphone.stop();
  await stream.finish();
};`;
}
