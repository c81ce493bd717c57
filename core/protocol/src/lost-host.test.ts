import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { IDEMPOTENCY_KEY_PATTERN } from './constants.ts';
import { lostKey, lostToken, readLostKey, readLostToken } from './lost-host.ts';

const RANDOM = '0123456789abcdef0123456789abcdef';

function session(id: string, credential: string, host = 'node-3.eu.asr.example.org:443') {
  const websocket_protocols: [string, string] = ['svc.realtime.v1', credential];
  return { id, websocket_url: `wss://${host}/v1/asr/stream`, websocket_protocols };
}

const anySession = fc
  .tuple(fc.uuid(), fc.stringMatching(/^svc\.auth\.[\w-]{96}$/))
  .map(([id, credential]) => session(id, credential));

test('a key of a lost session is a valid idempotency key and names the node, the session and its proof', () => {
  fc.assert(
    fc.property(anySession, (lost) => {
      const key = lostKey(RANDOM, lost);
      expect(key).toMatch(new RegExp(IDEMPOTENCY_KEY_PATTERN));
      const proof = lost.websocket_protocols[1].slice(-16);
      const named = { id: lost.id, proof };
      expect(readLostToken(lostToken(lost))).toEqual(named);
      expect(readLostKey(key)).toEqual({ host: 'node-3.eu.asr.example.org:443', session: named });
    }),
  );
});

test('a host that does not fit into a key is left out', () => {
  const lost = session('0'.repeat(8), 'svc.auth.x', 'x'.repeat(120));
  expect(lostKey(RANDOM, lost)).toBe(RANDOM);
  expect(lostKey(RANDOM, session('0'.repeat(8), 'svc.auth.x', '[::1]:8080'))).toBe(RANDOM);
});

test('other keys name no lost node, and keys of earlier clients no session', () => {
  expect(readLostKey('order-17')).toBeNull();
  expect(readLostKey(null)).toBeNull();
  expect(readLostKey(`lost.${RANDOM}.node-1:8443`)).toEqual({ host: 'node-1:8443', session: null });
});
