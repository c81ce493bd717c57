import type { ModelId } from '@svc-asr/protocol/constants.ts';

interface ExampleInput {
  readonly baseUrl: string;
  readonly model: ModelId;
  readonly maxAudioSeconds: number;
}

/** What the reader pastes. Tests take these lines from the screen and run them. */
export function curlExample({ baseUrl, model, maxAudioSeconds }: ExampleInput): string {
  return `curl ${baseUrl}/v1/asr/sessions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","max_audio_seconds":${maxAudioSeconds}}'`;
}

export function serverExample({ baseUrl, model, maxAudioSeconds }: ExampleInput): string {
  return `import { SvcClient } from '@svc-asr/sdk';

// The key stays here, on your server.
const svc = new SvcClient({ baseUrl: '${baseUrl}', apiKey: process.env.SVC_API_KEY });

// Answer your page's POST /session with this JSON.
const session = await svc.sessions.create({ model: '${model}', maxAudioSeconds: ${maxAudioSeconds} });`;
}

export function browserExample(): string {
  return `import { openMicrophone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream } from '@svc-asr/sdk/stream';

const stream = openStream({ getSession: fetchSession('/session') });
stream.on('delta', ({ text }) => { live.textContent = text; });

const microphone = await openMicrophone({ sink: stream });
stop.onclick = async () => {
  await microphone.stop();
  const { text } = await stream.finish();
  live.textContent = text;
};`;
}
