import { expect, test } from 'vitest';
import { generateSecrets, parseConfig } from './config.ts';

const required = {
  DATABASE_URL: 'postgres://svc@localhost/svc',
  PUBLIC_STREAM_URL: 'wss://node-1.example.com/v1/asr/stream',
  ...generateSecrets(),
};

test('uses the defaults of the contract when only the required settings are set', () => {
  const config = parseConfig(required);
  expect(config).toMatchObject({
    role: 'all',
    port: 8080,
    trustedProxies: [],
    secrets: { metricsToken: null },
  });
  expect(config.limits.rates).toEqual({
    sessions: { perMinute: 30, burst: 10 },
    usage: { perMinute: 60, burst: 60 },
    models: { perMinute: 120, burst: 120 },
    failedAuthentication: { perMinute: 20, burst: 20 },
    failedUpgrades: { perMinute: 30, burst: 30 },
    consoleForms: { perMinute: 10, burst: 20 },
  });
});

function attempt() {
  return parseConfig({
    ROLE: 'everything',
    PORT: '80a',
    DATABASE_URL: 'mysql://secret-host',
    PUBLIC_STREAM_URL: 'ws://plain.example.com',
    API_KEY_PEPPER: 'short-secret',
    SESSION_SIGNING_KEYS: '300:short-secret',
    RATE_SESSIONS: 'often',
    ALLOW_INSECURE_WS: 'yes',
  });
}

test('reports every problem at once, without echoing values', () => {
  for (const name of [
    'ROLE',
    'PORT',
    'DATABASE_URL',
    'PUBLIC_STREAM_URL',
    'API_KEY_PEPPER',
    'SESSION_SIGNING_KEYS',
    'RATE_SESSIONS',
    'ALLOW_INSECURE_WS',
  ]) {
    expect(attempt).toThrow(name);
  }
  expect(attempt).not.toThrow(/secret-host|short-secret/);
});

test('accepts a plain ws:// URL only if it is explicitly allowed', () => {
  const plain = { ...required, PUBLIC_STREAM_URL: 'ws://127.0.0.1:8080/v1/asr/stream' };
  expect(() => parseConfig(plain)).toThrow('PUBLIC_STREAM_URL');
  expect(parseConfig({ ...plain, ALLOW_INSECURE_WS: '1' }).publicStreamUrl).toBe(
    plain.PUBLIC_STREAM_URL,
  );
});

test('keeps signing keys in order and refuses duplicate ids', () => {
  const [, secret] = generateSecrets().SESSION_SIGNING_KEYS.split(':');
  const two = parseConfig({ ...required, SESSION_SIGNING_KEYS: `7:${secret},6:${secret}` });
  expect(two.secrets.signingKeys.map((key) => key.id)).toEqual([7, 6]);
  const twice = { ...required, SESSION_SIGNING_KEYS: `7:${secret},7:${secret}` };
  expect(() => parseConfig(twice)).toThrow('SESSION_SIGNING_KEYS');
});

test('parses a rate per minute with an optional burst', () => {
  const { rates } = parseConfig({ ...required, RATE_SESSIONS: '600/100', RATE_USAGE: '5' }).limits;
  expect(rates.sessions).toEqual({ perMinute: 600, burst: 100 });
  expect(rates.usage).toEqual({ perMinute: 5, burst: 5 });
});
