import { parseConfig, type Config } from '@svc-asr/server/config.ts';

/** The account's key in a simulated request. Authentication is not simulated. */
export const KEY_PREFIX = 'svc_live_v1_';
export const MODEL = 'svc-asr-kikuyu-v1';

const known = new Map<string, Config>();

/** The settings of a simulated process, read by the real parser. */
export function settingsOf(id: string): Config {
  const config = known.get(id) ?? parse(id);
  known.set(id, config);
  return config;
}

function parse(id: string): Config {
  return parseConfig({
    NODE_ID: id,
    DATABASE_URL: 'postgres://simulated@localhost/simulated',
    PUBLIC_STREAM_URL: `ws://${id}`,
    ALLOW_INSECURE_WS: '1',
    API_KEY_PEPPER: Buffer.alloc(32, 7).toString('base64'),
    SESSION_SIGNING_KEYS: `1:${Buffer.alloc(32, 8).toString('base64')}`,
  });
}
