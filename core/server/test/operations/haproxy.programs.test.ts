import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { API_ERRORS } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { freePort } from '@svc-asr/local/free-port.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { startHaproxy } from '@svc-asr/testing/haproxy.ts';

test('H01 H02 H03 the load balancer returns the error format of the contract when no node is left', async () => {
  const certificate = await makeCertificate();
  const node = createServer((_request, response) => response.end());
  const port = await listen(node);
  const url = `http://127.0.0.1:${port}`;
  const proxy = await startHaproxy({ certificate, port: await freePort(), nodes: [url, url] });
  try {
    node.close();
    node.closeAllConnections();
    const agent = new Agent({ ca: certificate.cert });
    const sent = request(`${proxy.url}/v1/models`, { agent }).end();
    const [response] = await once(sent, 'response');
    const { error } = JSON.parse(await text(response));
    expect(response.statusCode).toBe(503);
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'retry-after': '1',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    });
    expect(error).toEqual({
      type: 'api_error',
      code: 'service_unavailable',
      message: API_ERRORS.service_unavailable.message,
      request_id: response.headers['x-request-id'],
    });
  } finally {
    await proxy.stop();
  }
});
