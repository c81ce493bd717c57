import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { STREAM_PATH } from '@svc-asr/protocol';
import { listen } from '@svc-asr/runtime/listen.ts';
import { makeCertificate, type TestCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSvc } from './svc.ts';

/** A corporate proxy that tunnels with CONNECT and records the addresses. The service's name resolves only there. */
const tunnels: string[] = [];
const proxy: Server = createServer();
let service: Service;
let certificate: TestCertificate;
let port: string;
let proxyPort: number;

beforeAll(async () => {
  certificate = await makeCertificate();
  port = String(await freePort());
  service = await startService({
    env: {
      PORT: port,
      HOST: 'localhost',
      PUBLIC_STREAM_URL: `wss://asr.example.org${STREAM_PATH}`,
      TLS_CERT_FILE: certificate.certFile,
      TLS_KEY_FILE: certificate.keyFile,
    },
  });
  proxy.on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    const upstream = connect(Number(port), 'localhost', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on('error', () => upstream.destroy());
  });
  proxyPort = await listen(proxy);
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await service.stop();
});

test('HTTP requests and streams go through HTTPS_PROXY with NODE_USE_ENV_PROXY=1', async () => {
  const { out } = await runSvc(['doctor', '--json'], {
    env: {
      PATH: process.env['PATH'],
      SVC_BASE_URL: 'https://asr.example.org',
      SVC_API_KEY: service.apiKey,
      SVC_CONFIG: '/none',
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
      NODE_EXTRA_CA_CERTS: certificate.certFile,
      // The test's certificate is for localhost.
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    },
  });
  const findings: { check: string; ok: boolean; found: string }[] = JSON.parse(out);
  expect(findings.find(({ check }) => check === 'stream')).toMatchObject({ ok: true });
  // One tunnel for HTTP, at least one more for the stream.
  expect(new Set(tunnels)).toEqual(new Set(['asr.example.org:443']));
  expect(tunnels.length).toBeGreaterThanOrEqual(2);
});
