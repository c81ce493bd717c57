import { afterAll, expect, test } from 'vitest';
import { generateApiKey } from '../../src/accounts/keys/format.ts';
import { activate } from '../support/activate.ts';
import { sendRaw } from '../support/raw-http.ts';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService({ env: { METRICS_TOKEN: 'token-of-the-operator' } });
afterAll(() => svc.stop());

/** Returns the content of every table as text. */
async function wholeDatabase(): Promise<string> {
  const { pool } = svc.database;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name
       from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  let text = '';
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t`);
    text += rows.map(({ row }) => row).join('\n');
  }
  return text;
}

test('H04 K01 K04 secrets are in no log line, no error and no row of the database', async () => {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const idempotencyKey = 'canary-of-a-customer-name';
  const created = await svc.createSession(
    { model: KIKUYU },
    { apiKey: tenant.apiKey, headers: { 'idempotency-key': idempotencyKey } },
  );
  const credential = created.body.websocket_protocols[1];
  await activate(svc, { sessionId: created.body.id, accountId: tenant.accountId });
  const guessed = generateApiKey().key;
  const secrets = [tenant.apiKey, guessed, credential, 'canary-of-a-body', 'canary-of-a-header'];
  const answers: string[] = [];
  // Every kind of trouble, with a secret in every place that a caller can put one.
  for (const apiKey of [tenant.apiKey, guessed, `${guessed}0`, credential]) {
    for (const body of [
      { model: 'canary-of-a-body' },
      { model: KIKUYU, [credential]: tenant.apiKey },
      `{"model": canary-of-a-body ${credential}`,
    ]) {
      const headers = { 'x-canary': 'canary-of-a-header', 'x-request-id': guessed };
      answers.push(JSON.stringify(await svc.refusedSession(body, { apiKey, headers })));
    }
    answers.push(JSON.stringify(await svc.request(`/v1/${apiKey}?key=${apiKey}`)));
  }
  const broken = await sendRaw(
    svc.url,
    `STEAL /${tenant.apiKey} HTTP/1.1\r\nX: ${credential}\r\n\r\n`,
  );
  answers.push(broken.body);
  svc.deps.ledger.balance = () => Promise.reject(new Error(`with ${tenant.apiKey} ${credential}`));
  answers.push(JSON.stringify(await svc.usage({ apiKey: tenant.apiKey })));
  const metrics = await fetch(`${svc.url}/metrics`, {
    headers: { authorization: 'Bearer token-of-the-operator' },
  });
  const places = {
    answers: answers.join('\n'),
    log: svc.logged(),
    metrics: await metrics.text(),
    database: await wholeDatabase(),
  };
  expect(places.log).toContain('request');
  expect(places.metrics).toContain('svc_http_refusals_total');
  expect(places.database).toContain(created.body.id);
  for (const [place, text] of Object.entries(places)) {
    for (const secret of [...secrets, idempotencyKey]) {
      expect(text.includes(secret), `${secret.slice(0, 16)}... is in the ${place}`).toBe(false);
    }
    expect(text, place).not.toMatch(/svc_live_v1_\w|svc\.auth\.\w/);
  }
});

test('K01 the stored hash of a key does not verify without the pepper', async () => {
  const other = await startService({
    database: svc.database,
    env: { API_KEY_PEPPER: Buffer.alloc(32, 7).toString('base64') },
  });
  try {
    expect((await other.usage({ apiKey: svc.apiKey })).status).toBe(401);
  } finally {
    await other.stop();
  }
});
