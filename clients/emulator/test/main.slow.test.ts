import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen } from '@svc-asr/runtime/listen.ts';

const EMULATOR = join(import.meta.dirname, '../src/main.ts');

function run(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [EMULATOR, ...args], (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

/** A client without our code, as in someone's CI: arms a fault, meets it, and clears the rest. */
const VISITOR = `
const { SVC_BASE_URL, SVC_API_KEY, SVC_EMULATOR_URL } = process.env;
const ask = async (url, init) => {
  const response = await fetch(url, init);
  return [response.status, await response.json()];
};
const session = () => ask(SVC_BASE_URL + '/v1/asr/sessions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + SVC_API_KEY, 'content-type': 'application/json' },
  body: '{"model":"svc-asr-kikuyu-v1"}',
});
const control = (path, body, method = 'POST') =>
  ask(SVC_EMULATOR_URL + path, { method, body: body && JSON.stringify(body) });
const seen = [];
seen.push((await session())[1].error.code);
seen.push((await control('/faults', { name: 'unavailable', times: 2 }))[0]);
seen.push((await session())[1].error.code);
seen.push((await control('/faults', undefined, 'DELETE'))[0]);
seen.push((await control('/faults', { name: 'nonsense' }))[0]);
seen.push((await control('/texts', { texts: ['nĩ wega'] }))[0]);
seen.push((await control('/restart', { idle_ms: 1500 }))[0]);
seen.push((await session())[0]);
console.log(JSON.stringify(seen));
process.exit(7);
`;

test('runs a command with the settings, switches faults at run time, and exits with its status', async () => {
  const ports = ['--port', '0', '--control-port', '0'];
  const command = [process.execPath, '--input-type=module', '-e', VISITOR];
  const { code, out } = await run([...ports, '--fault', 'no-credit', '--', ...command]);
  expect(JSON.parse(out)).toEqual([
    'insufficient_credits',
    201,
    'capacity_exceeded',
    200,
    400,
    200,
    200,
    201,
  ]);
  expect(code).toBe(7);
});

test('lists the faults when one is unknown', async () => {
  const { code, err } = await run(['--fault', 'gremlins']);
  expect(code).toBe(2);
  expect(err).toMatch(/Use one of: no-credit, /);
});

test.each(['--port', '--control-port'])('names a %s that is in use', async (flag) => {
  const other = createServer();
  const port = String(await listen(other));
  const { code, err } = await run(['--port', '0', '--control-port', '0', flag, port]);
  other.close();
  expect([code, err]).toEqual([2, expect.stringContaining(`Port ${port} is in use.`)]);
});

test('--help lists every fault and has examples', async () => {
  const { out } = await run(['--help']);
  expect(out).toMatch(/engine-crash[\s\S]*connection-lost[\s\S]*Examples:/);
});

test('exits with 1 and names the faults that no client met', async () => {
  const ports = ['--port', '0', '--control-port', '0'];
  const faults = ['--fault', 'no-credit*2', '--fault', 'restart:3000'];
  const command = [process.execPath, '-e', ''];
  const { code, err } = await run([...ports, ...faults, '--', ...command]);
  expect(code).toBe(1);
  expect(err).toContain('Faults that no client met: no-credit*2, restart:3000.');
  expect(err).toContain(
    'Make more requests or streams, or lower TIMES. Send more audio, or lower MS.',
  );
  const allowed = await run([...ports, ...faults, '--allow-unmet-faults', '--', ...command]);
  expect(allowed.code).toBe(0);
});

test('does not ask for audio when a fault of a request was never met', async () => {
  const flags = ['--port', '0', '--control-port', '0', '--fault', 'unavailable'];
  const { err } = await run([...flags, '--', process.execPath, '-e', '']);
  expect(err).toMatch(
    /no client met: unavailable\. Make more requests or streams, or lower TIMES\.\n$/,
  );
});

test('--version prints the version of the package', async () => {
  const { code, out } = await run(['--version']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});
