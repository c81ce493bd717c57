import { expect, test } from 'vitest';
import { generateApiKey } from '../../accounts/keys/format.ts';
import { createLog, redactSecrets } from './log.ts';

function captured(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(createLog({ level: 'trace', destination: { write: (line) => void (text += line) } }));
  return text;
}
const { key } = generateApiKey();
const credential = `svc.auth.${'Ab-_9'.repeat(19)}A`;

test('K04 redacts secrets anywhere in a log line', () => {
  const text = captured((log) => {
    log.info({ deep: { deeper: { anything: [`Bearer ${key}`] } } }, `${key} and ${credential}`);
    log.error({ err: new Error(`bad ${key}`, { cause: new Error(credential) }) }, 'failed');
    log.warn({ url: 'postgres://svc:hunter2hunter2@db/svc' }, 'connecting');
    log.warn({ url: 'redis://:hunter2hunter2@cache:6379' }, 'connecting');
  });
  expect(text).not.toContain(key);
  expect(text).not.toContain(credential);
  expect(text).not.toContain('hunter2');
  expect(text).toContain('[redacted]');
});

test('K04 redacts headers and session responses by name, whatever their value', () => {
  const text = captured((log) => {
    log.info(
      { headers: { authorization: 'Basic cGFzcw==', 'sec-websocket-protocol': 'odd' } },
      'x',
    );
    log.info({ req: { headers: { authorization: 'Basic cGFzcw==', cookie: 'sid=1' } } }, 'x');
    log.info({ session: { websocket_protocols: ['a', 'plain'] }, apiKey: 'plain' }, 'x');
  });
  expect(text).not.toMatch(/cGFzcw|odd|sid=1|plain/);
});

test('K04 logs of an error what helps, and none of the objects that libraries attach to it', () => {
  const client = { processID: 4711, secretKey: 815_815_815, connectionParameters: { host: 'db' } };
  const cause = Object.assign(new Error('Connection lost'), { code: 'ECONNRESET', client });
  const error = Object.assign(new AggregateError([cause], 'All failed', { cause }), {
    detail: 'Key (email)=(amina@radio.example) already exists.',
  });
  const text = captured((log) => log.warn({ err: error }, 'A database connection broke.'));
  expect(JSON.parse(text).err).toMatchObject({
    type: 'AggregateError',
    message: 'All failed',
    cause: { type: 'Error', message: 'Connection lost', code: 'ECONNRESET' },
    errors: [{ code: 'ECONNRESET' }],
  });
  expect(text).not.toMatch(/815815815|secretKey|4711|amina/);
  expect(captured((log) => log.warn({ err: 'plain' }, 'x'))).toContain('"message":"plain"');
});

test('K04 redacts crash output with the same pattern', () => {
  const error = new Error(`boom ${key}`);
  expect(redactSecrets(String(error.stack))).not.toContain(key);
});
