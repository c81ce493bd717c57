import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** The image's health check: exits with 0 if the server in this container answers at /healthz. Images have no shell or curl. */
const { PORT, TLS_CERT_FILE } = process.env;
const options = { host: '127.0.0.1', port: PORT || 8080, path: '/healthz', timeout: 2_000 };
const request = TLS_CERT_FILE
  ? // The certificate names the public host, not this address.
    httpsRequest({ ...options, rejectUnauthorized: false })
  : httpRequest(options);
request
  .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
  .end();
