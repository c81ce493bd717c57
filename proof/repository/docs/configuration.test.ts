import { expect, test } from 'vitest';
import { generateSecrets, parseConfig } from '../../../core/server/src/config.ts';
import { readPage } from './blocks.ts';

const REQUIRED = {
  ...generateSecrets(),
  DATABASE_URL: 'postgres://localhost/svc',
  PUBLIC_STREAM_URL: 'wss://localhost/v1/asr/stream',
};
const UNSET = parseConfig(REQUIRED);

/** Their defaults are decided elsewhere: relative to the repository, by the engine, and only with an endpoint. */
const ELSEWHERE = new Set(['MODELS_DIR', 'ENGINE_SLOTS_PER_CHILD', 'OTEL_TRACES_SAMPLER_ARG']);

/** The variables of the page whose default is a value in backticks. */
function statedDefaults(): [name: string, value: string][] {
  const rows = readPage('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` \| `([^`]+)` \|/gm);
  return [...rows].flatMap(([, name = '', value = '']): [string, string][] =>
    ELSEWHERE.has(name) ? [] : [[name, value]],
  );
}

test('a variable set to its stated default changes nothing', () => {
  const stated = statedDefaults();
  expect(stated.length).toBeGreaterThan(15);
  for (const [name, value] of stated) {
    expect(parseConfig({ ...REQUIRED, [name]: value }), name).toEqual(UNSET);
  }
  expect(parseConfig({ ...REQUIRED, PORT: '8081' })).not.toEqual(UNSET);
});
