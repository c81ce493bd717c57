import { awayFromMidnight } from '@svc-asr/testing/away-from-midnight.ts';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc-asr/local/free-port.ts';
import type { ServiceStatus } from '@svc-asr/protocol/service-status.ts';
import { afterAll, expect, test } from 'vitest';
import { exportStatus } from '../../src/admin/status-files.ts';
import { addIncident } from '../../src/nodes/status/incidents.ts';
import { violations } from '../support/console/console-axe.ts';
import { openPage, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { layoutMistakes, OVERFLOW } from '../support/console/console-layout.ts';
import { DEVICES, takePicturesOfEveryLook } from '../support/console/console-pictures.ts';

await awayFromMidnight();
const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);
const db = service.database.pool;

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

/** 89 days before today, with 125 minutes without the API 10 days ago, and 4 without Dholuo 3 days ago. */
await db.query(`
  insert into status_days (day, component, available)
    select (clock_timestamp() at time zone 'UTC')::date - ago, component,
        case when component = 'api' and ago = 10 then repeat('0', 125) || repeat('1', 1315)
          when component like '%dholuo%' and ago = 3 then repeat('0', 4) || repeat('1', 1436)
          else repeat('1', 1440) end::bit(1440)
      from generate_series(0, 89) ago,
        unnest(array['api', 'database', 'svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1']) component
  on conflict (day, component) do update set from_minute = 0, available = excluded.available`);

test('the status page shows 90 days of each component, and what operators wrote', async () => {
  await addIncident(db, { text: 'Calls were cut off', start: hoursAgo(240), end: hoursAgo(238) });
  const { page, context, complaints } = await openPage(browser);
  await page.goto(`${service.url}/status`);
  const api = page.locator('[data-component="api"]');
  await api.getByText('99.90 % available in 90 days').waitFor();
  expect(await api.locator('rect').count()).toBe(90);
  expect(await api.locator('.all-up').count()).toBe(89);
  expect(await api.locator('.mostly-down title').textContent()).toMatch(/: 2 h 5 min down$/);
  await page.getByText('All systems operational').waitFor();
  await page.getByText(/^Checked at \d\d:\d\d:\d\d (UTC|GMT)/).waitFor();
  const incident = page.locator('[data-status-incidents] li');
  expect(await incident.innerText()).toMatch(/^Calls were cut off\n.+ (UTC|GMT).* to .+/);
  const interruptions = page.locator('[data-status-interruptions] li');
  expect(await interruptions.allInnerTexts()).toEqual([
    expect.stringMatching(/\nDholuo streaming 4 min$/),
    expect.stringMatching(/\nHTTP API 2 h 5 min$/),
  ]);
  expect(await violations(page)).toEqual([]);
  for (const device of ['desktop', 'tablet', 'phone'] as const) {
    await page.setViewportSize(DEVICES[device].viewport);
    expect(await layoutMistakes(page, [OVERFLOW])).toEqual([]);
  }
  await takePicturesOfEveryLook(page, 'status-history');
  const feed = await page.request.get(`${service.url}/status/incidents.atom`);
  expect(feed.headers()['content-type']).toBe('application/atom+xml; charset=utf-8');
  expect(await feed.text()).toContain('Resolved: Calls were cut off');
  expect(complaints).toEqual([]);
  await context.close();
});

test('the exported page works on another host, and says when the service stopped reporting', async () => {
  await addIncident(db, { text: 'Streams start slowly', start: new Date(), end: null });
  const folder = await mkdtemp(join(tmpdir(), 'svc-status-'));
  await mkdir(join(folder, 'docs/assets'), { recursive: true });
  await writeFile(join(folder, 'docs/assets/site-of-last-year.js'), '');
  await exportStatus(db, { folder, service: service.url });
  expect(await readdir(join(folder, 'docs/assets'))).not.toContain('site-of-last-year.js');
  const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };
  const elsewhere = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '');
    const type = Object.entries(types).find(([end]) => path.endsWith(end))?.[1] ?? 'text/plain';
    readFile(join(folder, path)).then(
      (body) => response.writeHead(200, { 'content-type': type }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  const port = await freePort();
  await new Promise<void>((done) => elsewhere.listen(port, '127.0.0.1', done));
  const { page, context, complaints } = await openPage(browser);
  try {
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.getByText('Ongoing: Streams start slowly').waitFor();
    await page.getByText(/^Since .+ (UTC|GMT)/).waitFor();
    await page.locator('[data-component="api"]').getByText('Operational').waitFor();
    expect(await page.getByRole('link', { name: 'Docs' }).getAttribute('href')).toBe(
      `${service.url}/docs`,
    );
    expect(await violations(page)).toEqual([]);
    await takePicturesOfEveryLook(page, 'status-elsewhere');

    const file = join(folder, 'status.json');
    const status: ServiceStatus = JSON.parse(await readFile(file, 'utf8'));
    const old = new Date(Date.now() - 10 * 60_000).toISOString();
    await writeFile(file, JSON.stringify({ ...status, checked_at: old }));
    await page.reload();
    await page.getByText('No report from the service since').waitFor();
    const api = page.locator('[data-component="api"]');
    expect(await api.locator('.state').innerText()).toBe('Unknown');
    expect(await api.locator('.detail').first().innerText()).toBe('No report.');
    expect(complaints).toEqual([]);
  } finally {
    await context.close();
    elsewhere.close();
    await rm(folder, { recursive: true });
  }
});
