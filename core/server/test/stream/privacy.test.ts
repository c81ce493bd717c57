import { expect, test } from 'vitest';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { refused, speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

/** Values that may only appear on the wire. */

const KEYTERM = 'gathoni wa wahome';
const PHRASE = 'thimo ya kũgeria ĩrĩa ĩtarĩ handũ hangĩ';

async function everythingStored(svc: Service): Promise<string> {
  const { rows: tables } = await svc.database.pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const texts = tables.map(async ({ name }) => {
    const { rows } = await svc.database.pool.query(`select t::text as row from ${name} t`);
    return JSON.stringify(rows);
  });
  return (await Promise.all(texts)).join('\n');
}

test('K04 K05 after every kind of ending, no credential, audio, word or keyterm is in the log, the rows or the metrics', async () => {
  const svc = await startService({
    script: { texts: [PHRASE] },
    env: { LOG_LEVEL: 'trace', METRICS_TOKEN: 'look' },
  });
  const secrets: string[] = [
    PHRASE,
    KEYTERM,
    'gathoni',
    'Gathoni',
    ...PHRASE.split(' ').filter((word) => word.length > 4),
  ];
  const audio = speech({ ms: 2_000 });
  secrets.push(audio.subarray(0, 60).toString('base64'), audio.subarray(0, 60).toString('hex'));

  for (const ending of ['close', 'vanish', 'violate', 'crash'] as const) {
    const tenant = await svc.addTenant({ creditMs: 60_000 });
    const { body } = await svc.createSession(undefined, tenant);
    secrets.push(body.websocket_protocols[1], tenant.apiKey);
    const client = await StreamClient.ready(body, { url: svc.streamUrl });
    client.say({ type: 'config', keyterms: ['Gathoni wa Wahome', 'Gathoni!'] });
    expect(await client.next('config_ack')).toMatchObject({ keyterms: { taken: [KEYTERM] } });
    expect((await client.send(audio).flush()).text).toBe(PHRASE);
    await refused(svc.streamUrl, body.websocket_protocols);
    if (ending === 'close') await client.close();
    if (ending === 'vanish') client.socket.terminate();
    if (ending === 'violate') client.send(Buffer.alloc(70_000, 1));
    if (ending === 'crash') svc.engine.crash();
    await client.closed;
  }
  const { text } = await scrape(svc);
  const stored = await everythingStored(svc);
  const everything = `${svc.logged()}\n${stored}\n${text}`;
  await svc.stop();
  for (const secret of secrets) expect(everything.includes(secret)).toBe(false);
  // Proves that the search works: data that may be stored is found.
  expect(svc.logged()).toContain('stream ended');
  expect(stored).toContain('completed');
  expect(text).toContain('svc_stream_endings_total{status="completed",reason="completed"}');
});

async function scrape(svc: Service): Promise<{ text: string }> {
  const response = await fetch(`${svc.url}/metrics`, { headers: { authorization: 'Bearer look' } });
  return { text: await response.text() };
}
