import { copyFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { expect, test } from 'vitest';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { createLog } from '../../src/platform/observe/log.ts';
import { readCertificate, watchCertificate } from '../../src/platform/network/tls.ts';

test('a certificate is reloaded once when its content changes, and not when its files are only touched', async () => {
  const files = await makeCertificate();
  const loaded = await readCertificate(files);
  const server = createServer({ cert: loaded?.cert, key: loaded?.key });
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  });
  const renewals: Buffer[] = [];
  const unwatch = watchCertificate(server, {
    files,
    loaded,
    log,
    onLoaded: ({ cert }) => renewals.push(cert),
  });
  process.emit('SIGHUP');
  const renewed = await makeCertificate('renewed.example.com');
  await copyFile(renewed.certFile, files.certFile);
  await copyFile(renewed.keyFile, files.keyFile);
  process.emit('SIGHUP');
  process.emit('SIGHUP');
  // Resolves after all reloads.
  await unwatch();
  expect(renewals.map(String)).toEqual([String(renewed.cert)]);
  expect(lines.filter((line) => line.includes('The certificate was reloaded.'))).toHaveLength(1);
});
