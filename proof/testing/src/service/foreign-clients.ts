import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { listen } from '@svc-asr/runtime/listen.ts';
import { launchChromium } from '../chromium.ts';
import { Reports, type ForeignClient, type ForeignStream, type Report } from './foreign-client.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const PYTHON = join(ROOT, '.cache/python/bin/python');

/** Python's `websockets`, a process for each stream. */
export function pythonClient(): ForeignClient {
  if (!existsSync(PYTHON)) throw new Error('Python is not set up: bash .ci/bootstrap');
  return {
    async open(url, protocols) {
      const reports = new Reports();
      const script = join(ROOT, 'proof/testing/python/stream_client.py');
      const child = spawn(PYTHON, [script, url, ...protocols], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      await once(child, 'spawn');
      createInterface({ input: child.stdout }).on('line', (line) => reports.take(JSON.parse(line)));
      child.once('exit', () => reports.take({ closed: { code: 1006, reason: '', waitedMs: 0 } }));
      const command = async (value: unknown): Promise<void> => {
        child.stdin.write(`${JSON.stringify(value)}\n`);
      };
      return {
        closed: reports.closed,
        received: (type) => reports.received(type),
        sendZeros: (zeros) => command({ zeros }),
        sendText: (text) => command({ text }),
        sendInvalidUtf8: () => command({ invalid_utf8: true }),
      };
    },
    stop: async () => {},
  };
}

/** Chromium with one page per stream, served from a web server so that the pages have an origin. */
export async function chromiumClient(): Promise<ForeignClient> {
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html>');
  });
  const origin = `http://127.0.0.1:${await listen(site)}`;
  const browser = await launchChromium();
  return {
    async open(url, protocols) {
      const reports = new Reports();
      const page = await browser.newPage();
      await page.goto(origin);
      await page.exposeFunction('report', (report: Report) => reports.take(report));
      await page.evaluate(openInPage, { url, protocols: [...protocols] });
      return pageStream(page, reports);
    },
    async stop() {
      await browser.close();
      site.close();
    },
  };
}

function pageStream(page: Page, reports: Reports): ForeignStream {
  return {
    closed: reports.closed,
    received: (type) => reports.received(type),
    sendZeros: (bytes) => page.evaluate(`socket.send(new Uint8Array(${bytes}))`),
    sendText: (text) => page.evaluate(`socket.send(${JSON.stringify(text)})`),
  };
}

/** Runs in the page, so it can use nothing from this file. */
function openInPage(input: { url: string; protocols: string[] }): void {
  const { report }: { report?: (report: unknown) => void } = globalThis as object;
  const socket = new WebSocket(input.url, input.protocols);
  let lastEventAtMs = performance.now();
  socket.addEventListener('message', ({ data }) => {
    lastEventAtMs = performance.now();
    report?.({ event: JSON.parse(String(data)) });
  });
  socket.addEventListener('close', ({ code, reason }) =>
    report?.({ closed: { code, reason, waitedMs: performance.now() - lastEventAtMs } }),
  );
  Object.assign(globalThis, { socket });
}
