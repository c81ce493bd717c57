import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';

/** Debian's Asterisk in its own folder, and SIPp as the telephones. Both need root. */

const run = promisify(execFile);
const FILES = import.meta.dirname;
const DIALPLAN = join(FILES, '../../asterisk');
const ROOT = join(FILES, '../../../../../.cache/asterisk');
const CONFIG = '/etc/asterisk-call';
const CONFIG_FILES = [
  ...['svc-asr.conf', 'websocket_client.conf'].map((name) => join(DIALPLAN, name)),
  ...['asterisk.conf', 'extensions.conf', 'logger.conf', 'modules.conf', 'pjsip.conf'].map((name) =>
    join(FILES, name),
  ),
];
const DEVICES = ['null', 'zero', 'random', 'urandom'];
const FOLDERS = ['run', 'log', 'spool', 'lib'].map((name) => `var/${name}/asterisk`);

export interface Asterisk {
  readonly sipPort: number;
  readonly agentPort: number;
  stop(): Promise<void>;
}

/** Starts Asterisk with the dialplan of `asterisk/`. `settings` replace lines of it: `{ SVC_TRANSPORT: 'audiosocket' }`. */
export async function startAsterisk(settings: Readonly<Record<string, string>>): Promise<Asterisk> {
  if (!existsSync(join(ROOT, 'usr/sbin/asterisk'))) await run(join(FILES, 'fetch.sh'));
  const [sipPort, agentPort] = [await freePort(), await freePort()];
  const config = join(ROOT, CONFIG);
  for (const folder of ['dev', 'tmp', ...FOLDERS])
    await mkdir(join(ROOT, folder), { recursive: true });
  for (const device of DEVICES) {
    if (!existsSync(join(ROOT, 'dev', device)))
      await run('cp', ['-a', `/dev/${device}`, join(ROOT, 'dev')]);
  }
  await cp('/etc/hosts', join(ROOT, 'etc/hosts'));
  await rm(config, { recursive: true, force: true });
  await mkdir(config, { recursive: true });
  for (const file of CONFIG_FILES) {
    const text = await readFile(file, 'utf8');
    const ports = text.replace('@SIP_PORT@', `${sipPort}`).replace('@AGENT_PORT@', `${agentPort}`);
    await writeFile(join(config, basename(file)), withSettings(ports, settings));
  }
  const asterisk = spawn('chroot', [...command(), '-f'], { stdio: 'ignore' });
  const boot = [...command(), '-rx', 'core waitfullybooted'];
  try {
    await vi.waitFor(() => run('chroot', boot), { timeout: 60_000, interval: 200 });
  } catch (error) {
    await end(asterisk);
    throw error;
  }
  return { sipPort, agentPort, stop: () => end(asterisk) };
}

function command(): string[] {
  return [ROOT, '/usr/sbin/asterisk', '-C', `${CONFIG}/asterisk.conf`];
}

function withSettings(text: string, settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings).reduce(
    (changed, [name, value]) =>
      changed.replace(new RegExp(`^${name} = .*$`, 'm'), `${name} = ${value}`),
    text,
  );
}

/** Calls a number and returns the exit code of the caller: 0 if the call went as `caller.xml` says. */
export async function call(
  { sipPort, agentPort }: Asterisk,
  { number, folder }: { readonly number: string; readonly folder: string },
): Promise<number> {
  for (const name of ['caller.xml', 'agent.xml']) await cp(join(FILES, name), join(folder, name));
  const agent = startSipp(folder, ['-sf', 'agent.xml', '-p', `${agentPort}`]);
  const target = `127.0.0.1:${sipPort}`;
  const caller = startSipp(folder, [
    '-sf',
    'caller.xml',
    '-s',
    number,
    '-p',
    `${await freePort()}`,
    target,
  ]);
  const [code] = await once(caller, 'exit');
  await end(agent);
  return code;
}

function startSipp(folder: string, args: readonly string[]): ChildProcess {
  const common = ['-m', '1', '-i', '127.0.0.1', '-nostdin', '-trace_err', '-timeout', '60'];
  return spawn('sipp', [...args, ...common], { cwd: folder, stdio: 'ignore' });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  const closed = once(socket, 'close');
  socket.close();
  await closed;
  return port;
}
