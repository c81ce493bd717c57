import { once } from 'node:events';
import { connect } from 'node:net';
import { SUBPROTOCOL, type AsrSession } from '@svc-asr/protocol';
import { afterAll, describe, expect, test } from 'vitest';
import { setAccountStatus } from '../../src/accounts/accounts.ts';
import { KIKUYU, startService, type Tenant } from '@svc-asr/testing/service/service.ts';
import { refused, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { countStatements } from '../support/count-statements.ts';
import { sendRaw } from '../support/raw-http.ts';
import { backdateSession } from '@svc-asr/testing/postgres/time-travel.ts';

const svc = await startService();
afterAll(() => svc.stop());

/** Creates a session, in its own account by default, so that tests do not block each other. */
async function newSession(tenant?: Tenant): Promise<{ session: AsrSession; tenant: Tenant }> {
  const owner = tenant ?? (await svc.addTenant({ creditMs: 60_000 }));
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 10 }, owner);
  return { session: body, tenant: owner };
}

async function statusOf(tenant: Tenant): Promise<string | undefined> {
  return (await svc.usage(tenant)).body.recent_sessions[0]?.status;
}

describe('the upgrade', () => {
  test('W01 requires both subprotocols and returns only svc.realtime.v1', async () => {
    const { session } = await newSession();
    const client = await StreamClient.open(session, { url: svc.streamUrl });
    expect(client.socket.protocol).toBe(SUBPROTOCOL);
    await client.close();
  });

  test('W01 without svc.realtime.v1: 400 unsupported_subprotocol', async () => {
    const { session, tenant } = await newSession();
    const refusal = await refused(svc.streamUrl, [session.websocket_protocols[1]]);
    expect(refusal).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_subprotocol' } },
    });
    expect(await statusOf(tenant)).toBe('reserved');
  });

  test('W01 without the credential: 401 missing_session_credential', async () => {
    const refusal = await refused(svc.streamUrl, [SUBPROTOCOL]);
    expect(refusal).toMatchObject({
      status: 401,
      body: { error: { code: 'missing_session_credential' } },
    });
  });

  test('the order of the two values does not matter', async () => {
    const { session } = await newSession();
    const protocols = session.websocket_protocols.toReversed();
    const client = await StreamClient.open(session, { url: svc.streamUrl, protocols });
    expect(client.socket.protocol).toBe(SUBPROTOCOL);
    await client.close();
  });

  test('the two values may come in two header lines', async () => {
    const { session } = await newSession();
    const [first, second] = session.websocket_protocols;
    const { hostname, port, pathname } = new URL(svc.streamUrl);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n` +
        `Sec-WebSocket-Protocol: ${first}\r\nSec-WebSocket-Protocol: ${second}\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(
      /^HTTP\/1\.1 101 [^]*\r\nSec-WebSocket-Protocol: svc\.realtime\.v1\r\n/,
    );
  });

  test('two credentials: 400, and neither is used up', async () => {
    const one = await newSession();
    const other = await newSession();
    const refusal = await refused(svc.streamUrl, [
      ...one.session.websocket_protocols,
      other.session.websocket_protocols[1],
    ]);
    expect(refusal).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_subprotocol' } },
    });
    expect([await statusOf(one.tenant), await statusOf(other.tenant)]).toEqual([
      'reserved',
      'reserved',
    ]);
  });

  test('W02 the credential works once; a replay is refused and does not disturb the first', async () => {
    const { session } = await newSession();
    const first = await StreamClient.ready(session, { url: svc.streamUrl });
    const refusal = await refused(svc.streamUrl, session.websocket_protocols);
    expect(refusal).toMatchObject({
      status: 401,
      body: { error: { code: 'session_credential_used' } },
    });
    first.send(Buffer.alloc(3_200, 7));
    expect(await first.flush()).toMatchObject({ total_audio_ms: 100 });
    await first.close();
    expect((await refused(svc.streamUrl, session.websocket_protocols)).body.error.code).toBe(
      'session_credential_used',
    );
  });

  test('W03 C05 refuses the credential after 60 s and returns all reserved credit', async () => {
    const { session, tenant } = await newSession();
    await backdateSession(svc.database.pool, { sessionId: session.id, ms: 60_000 });
    const refusal = await refused(svc.streamUrl, session.websocket_protocols);
    expect(refusal).toMatchObject({
      status: 401,
      body: { error: { code: 'session_credential_expired' } },
    });
    const { body } = await svc.usage(tenant);
    expect(body).toMatchObject({ available_ms: 60_000, reserved_ms: 0, consumed_ms: 0 });
  });

  test('a tampered credential: 401 invalid_session_credential, without a database query', async () => {
    const { session } = await newSession();
    const [protocol, credential] = session.websocket_protocols;
    const tampered = credential.slice(0, -2) + (credential.endsWith('AA') ? 'BB' : 'AA');
    const { statements, result } = await countClaims(() =>
      refused(svc.streamUrl, [protocol, tampered]),
    );
    expect(result).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_session_credential' } },
    });
    expect(statements).toBe(0);
    const opened = await countClaims(() => StreamClient.open(session, { url: svc.streamUrl }));
    expect(opened.statements).toBe(1);
    await opened.result.close();
  });

  test('a suspended account: 403 account_inactive', async () => {
    const { session, tenant } = await newSession();
    await setAccountStatus(svc.database.pool, { id: tenant.accountId, status: 'suspended' });
    const refusal = await refused(svc.streamUrl, session.websocket_protocols);
    expect(refusal).toMatchObject({ status: 403, body: { error: { code: 'account_inactive' } } });
  });

  test('a browser can stream only from the allowed origins of the account', async () => {
    const { session, tenant } = await newSession();
    await svc.database.pool.query('update accounts set allowed_origins = $2 where id = $1', [
      tenant.accountId,
      ['https://app.example.com'],
    ]);
    const refusal = await StreamClient.open(session, {
      url: svc.streamUrl,
      origin: 'https://elsewhere.example.com',
    });
    expect(await refusal.closed).toEqual({ code: 4403, reason: 'origin_not_allowed' });
    expect(refusal.events).toMatchObject([{ type: 'error', code: 'origin_not_allowed' }]);
    // A refused upgrade never spends the credential.
    const client = await StreamClient.ready(session, {
      url: svc.streamUrl,
      origin: 'https://app.example.com',
    });
    await client.close();
  });

  test.each([
    ['another path', '/v1/asr/elsewhere', 404, 'route_not_found'],
    ['the API', '/v1/usage', 404, 'route_not_found'],
  ])('an upgrade at %s: %s answers %i %s', async (_, path, status, code) => {
    const refusal = await refused(svc.url.replace('http', 'ws') + path, [SUBPROTOCOL]);
    expect(refusal).toMatchObject({ status, body: { error: { code } } });
  });

  test('a plain GET on the stream URL: 426 upgrade_required', async () => {
    const { status, body } = await svc.request('/v1/asr/stream');
    expect({ status, code: body.error.code }).toEqual({ status: 426, code: 'upgrade_required' });
  });

  test('Upgrade without Connection: 426 upgrade_required', async () => {
    const headers = 'Host: localhost\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
    const request = `GET /v1/asr/stream HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`;
    const answer = await sendRaw(svc.url, request);
    expect(answer.status).toBe(426);
    expect(answer.body).toContain('upgrade_required');
  });

  test('every refusal carries one request id, in the header and the body', async () => {
    const { headers, body } = await refused(svc.streamUrl, [SUBPROTOCOL, 'svc.auth.nothing']);
    expect(headers['x-request-id']).toBe(body.error.request_id);
    expect(body.error.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

test('returns 429 for refused upgrades above the limit of their address, never for a valid credential', async () => {
  const small = await startService({ env: { RATE_FAILED_UPGRADES: '30/2' } });
  try {
    for (let n = 0; n < 3; n += 1) {
      const tenant = await small.addTenant({ creditMs: 60_000 });
      const { body: session } = await small.createSession(undefined, tenant);
      await (await StreamClient.ready(session, { url: small.streamUrl })).close();
      if (n === 2) break;
      expect((await refused(small.streamUrl, [SUBPROTOCOL])).status).toBe(401);
    }
    const refusal = await refused(small.streamUrl, [SUBPROTOCOL]);
    expect(refusal).toMatchObject({
      status: 429,
      body: { error: { code: 'request_rate_exceeded' } },
    });
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
    expect(refusal.headers['ratelimit-policy']).toBe('"failed-upgrades";q=30;w=60');
    expect(refusal.headers['ratelimit']).toMatch(/^"failed-upgrades";r=0;t=[12]$/);
    const { body: session } = await small.createSession();
    await (await StreamClient.ready(session, { url: small.streamUrl })).close();
  } finally {
    await small.stop();
  }
});

test('no engine slot: 503 capacity_exceeded with Retry-After, and the credential stays good', async () => {
  const small = await startService({ capacity: 1 });
  const [first, second] = [
    await small.addTenant({ creditMs: 10_000 }),
    await small.addTenant({ creditMs: 10_000 }),
  ];
  const { body: one } = await small.createSession(undefined, first);
  const { body: two } = await small.createSession(undefined, second);
  const stream = await StreamClient.ready(one, { url: small.streamUrl });
  const refusal = await refused(small.streamUrl, two.websocket_protocols);
  expect(refusal).toMatchObject({ status: 503, body: { error: { code: 'capacity_exceeded' } } });
  expect(Number(refusal.headers['retry-after'])).toBeGreaterThanOrEqual(0);
  await stream.close();
  const later = await StreamClient.ready(two, { url: small.streamUrl });
  await later.close();
  await small.stop();
});

test('a process without streams answers an upgrade at once, and survives a client that resets it', async () => {
  const api = await startService({ env: { ROLE: 'api' } });
  const refusal = await refused(api.streamUrl, [SUBPROTOCOL]);
  expect(refusal).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });

  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    'GET /v1/asr/stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
  socket.resetAndDestroy();
  await once(socket, 'close');
  expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  await api.stop();
});

const countClaims = <T>(work: () => Promise<T>) =>
  countStatements(svc.deps.db, 'claim_session', work);
