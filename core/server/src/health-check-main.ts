import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

/**
 * The image's health check: exits with 0 if the process in this container answers at /healthz. Engine nodes do on METRICS_PORT.
 * Images have no shell or curl.
 */
const { METRICS_PORT, PORT, TLS_CERT_FILE } = process.env;
const port = METRICS_PORT || PORT || 8080;
const options = { host: '127.0.0.1', port, path: '/healthz', timeout: 2_000 };
const request = TLS_CERT_FILE
  ? // The certificate names the public host, not this address.
    httpsRequest({ ...options, rejectUnauthorized: false })
  : httpRequest(options);
request
  .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
  .end();
