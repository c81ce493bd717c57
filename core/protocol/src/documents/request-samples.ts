import { MODEL_IDS, SUBPROTOCOL } from '../constants.ts';

/** Requests as programs, for `x-codeSamples` of the OpenAPI document. A test compiles each of them. */

export interface RequestSample {
  readonly lang: 'Shell' | 'TypeScript' | 'Python';
  readonly label: 'curl' | 'TypeScript' | 'Python' | 'CLI';
  readonly source: string;
}

const [MODEL] = MODEL_IDS;
const SDK = '@svc-asr/sdk';

export const REQUEST_SAMPLES = {
  listModels: [
    shell('curl', ['curl -sS "$SVC_BASE_URL/v1/models"']),
    typescript(['const client = new SvcClient();', 'console.log(await client.models.list());']),
    python([
      '    async with SvcClient() as client:',
      '        for model in await client.models.list():',
      '            print(model.id, model.language)',
    ]),
    shell('CLI', ['svc models']),
  ],
  createSession: [
    shell('curl', [
      'curl -sS "$SVC_BASE_URL/v1/asr/sessions" \\',
      '  -H "Authorization: Bearer $SVC_API_KEY" \\',
      "  -H 'Content-Type: application/json' \\",
      "  -H 'Idempotency-Key: order-7431' \\",
      `  -d '{"model":"${MODEL}","max_audio_seconds":120}'`,
    ]),
    typescript([
      'const client = new SvcClient();',
      `const session = await client.sessions.create({ model: '${MODEL}', maxAudioSeconds: 120 });`,
      'console.log(session.id, session.credits.reserved);',
    ]),
    python([
      '    async with SvcClient() as client:',
      `        session = await client.sessions.create("${MODEL}", max_audio_seconds=120)`,
      '        print(session.id, session.credits.reserved)',
    ]),
    shell('CLI', ['svc session --language ki --max-seconds 120 > session.json']),
  ],
  openStream: [
    shell('curl', [
      '# Set WEBSOCKET_URL to websocket_url, and CREDENTIAL to the second of websocket_protocols.',
      'curl -si --http1.1 --max-time 5 "${WEBSOCKET_URL/ws/http}" \\',
      "  -H 'Connection: Upgrade' -H 'Upgrade: websocket' \\",
      '  -H \'Sec-WebSocket-Version: 13\' -H "Sec-WebSocket-Key: $(openssl rand -base64 16)" \\',
      `  -H "Sec-WebSocket-Protocol: ${SUBPROTOCOL}, $CREDENTIAL"`,
    ]),
    typescript([
      'const client = new SvcClient();',
      `const session = await client.sessions.create({ model: '${MODEL}' });`,
      'const socket = new WebSocket(session.websocket_url, session.websocket_protocols);',
      'socket.onmessage = ({ data }) => {',
      '  console.log(data); // ready: from now on you can send audio',
      '  socket.close();',
      '};',
    ]),
    python(
      [
        '    async with SvcClient() as client:',
        `        session = await client.sessions.create("${MODEL}")`,
        '        async with open_stream(session=session) as stream:',
        '            await stream.write(bytes(32_000))  # a second of silence',
        '            print((await stream.finish()).sessions)',
      ],
      ['SvcClient', 'open_stream'],
    ),
    shell('CLI', [
      'svc transcribe recording.wav --language ki   # creates a session and opens its stream',
    ]),
  ],
  getUsage: [
    shell('curl', ['curl -sS "$SVC_BASE_URL/v1/usage" -H "Authorization: Bearer $SVC_API_KEY"']),
    typescript([
      'const client = new SvcClient();',
      'const { available_ms } = await client.usage.get();',
      'console.log(available_ms / 1000);',
    ]),
    python([
      '    async with SvcClient() as client:',
      '        balance = await client.usage.get()',
      '        print(balance.available_ms / 1000)',
    ]),
    shell('CLI', ['svc usage']),
  ],
} as const satisfies Record<string, readonly RequestSample[]>;

function shell(label: 'curl' | 'CLI', lines: readonly string[]): RequestSample {
  return { lang: 'Shell', label, source: lines.join('\n') };
}

function typescript(lines: readonly string[]): RequestSample {
  const source = [`import { SvcClient } from '${SDK}';`, '', ...lines].join('\n');
  return { lang: 'TypeScript', label: 'TypeScript', source };
}

/** The lines of `main`, and the names that they use. */
function python(lines: readonly string[], names: readonly string[] = ['SvcClient']): RequestSample {
  const source = [
    'import asyncio',
    '',
    `from svc_asr import ${names.join(', ')}`,
    '',
    '',
    'async def main():',
    ...lines,
    '',
    '',
    'asyncio.run(main())',
  ].join('\n');
  return { lang: 'Python', label: 'Python', source };
}
