import { MODEL_IDS } from './constants.ts';

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
    shell('curl', ['curl -s "$SVC_BASE_URL/v1/models"']),
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
      'curl -s "$SVC_BASE_URL/v1/asr/sessions" \\',
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
  getUsage: [
    shell('curl', ['curl -s "$SVC_BASE_URL/v1/usage" -H "Authorization: Bearer $SVC_API_KEY"']),
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

/** The lines of `main`. */
function python(lines: readonly string[]): RequestSample {
  const source = [
    'import asyncio',
    '',
    'from svc_asr import SvcClient',
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
