import type { AsrSession } from '@svc-asr/protocol';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { violations } from '../support/console/console-axe.ts';
import { openPage, signInAs, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { fillAccount } from '../support/console/console-history.ts';

/** A developer whose stream failed sees at a glance what happened, whose fault it was and what to do. */

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);
const db = service.database.pool;

/** Streams 1,001 ms of audio, then a message that is too large. */
async function breakStream(page: Page): Promise<string> {
  const request = JSON.stringify({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-asr-kikuyu-v1', max_audio_seconds: 60 }),
  });
  const session = await page.evaluate<AsrSession>(
    `fetch('/console-api/playground/session', ${request}).then((answer) => answer.json())`,
  );
  const client = await StreamClient.ready(session, {
    url: service.streamUrl,
    rejectUnauthorized: false,
  });
  client.send(speech({ samples: 16_016 }));
  client.say({ type: 'flush' });
  await client.next('final');
  client.send(Buffer.alloc(65_537));
  await eventually(async () => {
    const { rows } = await db.query('select 1 from session_details where session_id = $1', [
      session.id,
    ]);
    return rows.length === 1;
  });
  return session.id;
}

test('a stream that the server closed because of its client says so everywhere', async () => {
  const { page, complaints } = await openPage(browser);
  await service.admit('broken@example.com');
  await signInAs(page, { service, email: 'broken@example.com' });
  const id = await breakStream(page);
  await page.goto(`${service.url}/app`);
  const row = page.getByRole('row').filter({ hasText: 'Kikuyu' });
  await row.getByText('Ended by an error').waitFor();
  expect(await row.innerText()).toContain('1.001 s of accepted audio, rounded up once to 2 s');
  await page.goto(`${service.url}/app/sessions?status=completed`);
  await page.getByText('No session matches').waitFor();
  await page.getByLabel('Status').selectOption('Any failure');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('tbody tr').getByRole('link').click();

  const happened = page.getByRole('region', { name: 'A message was too large' });
  await happened.waitFor();
  expect(page.url()).toContain(id);
  const said = await happened.innerText();
  for (const part of ['What happened', "Don't retry unchanged.", '6,400 bytes', '1009']) {
    expect(said).toContain(part);
  }
  // Red is the colour of the failing step alone.
  const colours = await page
    .getByRole('listitem')
    .filter({ has: page.locator('.text-danger') })
    .allInnerTexts();
  expect(colours).toHaveLength(1);
  expect(colours[0]).toContain('message_too_large');
  const receipt = await page.getByRole('region', { name: 'Receipt' }).innerText();
  for (const figure of ['1.001 s', '+ 0.999 s', '2 s']) expect(receipt).toContain(figure);
  expect(await violations(page)).toEqual([]);

  await happened.getByRole('link', { name: 'message_too_large' }).click();
  await page.waitForURL('**/docs/errors#stream-message_too_large');
  expect(await page.locator(':target').innerText()).toContain('1009');
  expect(complaints).toEqual([]);
});

test('a failure of ours says its cause to the customer', async () => {
  const { page, complaints } = await openPage(browser);
  const accountId = await service.admit('lost@example.com');
  await fillAccount(service, accountId);
  await signInAs(page, { service, email: 'lost@example.com', path: '/app/sessions?status=failed' });
  await page.getByText('Failed (ours)', { exact: true }).last().waitFor();
  await page.locator('tbody tr').getByRole('link').click();
  const happened = page.getByRole('region', { name: 'We lost the server that ran this stream' });
  const said = await happened.innerText();
  for (const part of ['Retry now.', 'nothing was charged', 'node_lost']) {
    expect(said).toContain(part);
  }
  const receipt = await page.getByRole('region', { name: 'Receipt' }).innerText();
  expect(receipt).toContain('− 7.5 s');
  expect(await violations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
