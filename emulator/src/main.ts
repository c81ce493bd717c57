#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { parseArgs, styleText } from 'node:util';
import { startControl } from './control.ts';
import { startEmulator, type EmulatorOptions } from './emulator.ts';
import { FAULTS, parseFaultFlag, type Fault } from './faults.ts';

const HELP = `svc-emulator: the whole service on this machine, with faults on demand

Usage: svc-emulator [options] [-- COMMAND ...]

The real server, a scripted recogniser and a throw-away PostgreSQL. With a COMMAND it runs it with SVC_BASE_URL,
SVC_API_KEY and SVC_EMULATOR_URL set, and ends with its exit status; without one it runs until Ctrl-C.

Options:
  -p, --port N            port of the service (default 8090)
      --control-port N    port of the switches (default 8091)
  -s, --say TEXT          what is recognised; repeat it for one utterance after the other
  -f, --fault FAULT       something that goes wrong: NAME, NAME:MS, NAME*TIMES or NAME:MS*TIMES; repeatable
      --credit SECONDS    audio credit (default 3600)
      --concurrency N     sessions at once (default 1)
      --idle-ms N         close idle streams with 4408 after so long (default 60000)
      --write-env PATH    write the settings there, for tools that read such files
  -h, --help

Faults:
${Object.entries(FAULTS)
  .map(([name, about]) => `  ${name.padEnd(20)} ${about}`)
  .join('\n')}

At run time, on the control port:
  curl localhost:8091
  curl localhost:8091/faults -d '{"name":"engine-crash","ms":3000}'
  curl localhost:8091/faults -X DELETE
  curl localhost:8091/texts -d '{"texts":["nĩ wega"]}'
  curl localhost:8091/restart -d '{"idle_ms":1500}'

Examples:
  svc-emulator
  svc-emulator --say 'nĩ wega mũno' --fault unavailable*2 --fault engine-crash:3000
  svc-emulator -- npm test`;

const OPTIONS = {
  port: { type: 'string', short: 'p' },
  'control-port': { type: 'string' },
  say: { type: 'string', short: 's', multiple: true },
  fault: { type: 'string', short: 'f', multiple: true },
  credit: { type: 'string' },
  concurrency: { type: 'string' },
  'idle-ms': { type: 'string' },
  'write-env': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Flags = ReturnType<typeof parseFlags>;

function parseFlags(argv: readonly string[]) {
  return parseArgs({ args: [...argv], options: OPTIONS }).values;
}

async function main(argv: readonly string[]): Promise<number> {
  const divide = argv.indexOf('--');
  const flags = parseFlags(divide < 0 ? argv : argv.slice(0, divide));
  const command = divide < 0 ? [] : argv.slice(divide + 1);
  if (flags.help === true) {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }
  const began = performance.now();
  const emulator = await startEmulator(toOptions(flags));
  const control = await startControl(emulator, whole('control-port', flags['control-port'], 8091));
  const settings = {
    SVC_BASE_URL: emulator.url,
    SVC_API_KEY: emulator.apiKey,
    SVC_EMULATOR_URL: control.url,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  if (flags['write-env'] !== undefined) {
    await writeFile(flags['write-env'], `${lines.join('\n')}\n`, { mode: 0o600 });
  }
  show(lines, performance.now() - began);
  const status = await (command.length > 0 ? runCommand(command, settings) : untilInterrupted());
  await control.stop();
  await emulator.stop();
  return status;
}

function toOptions(flags: Flags): EmulatorOptions {
  return {
    port: whole('port', flags.port, 8090),
    creditMs: whole('credit', flags.credit, 3_600) * 1000,
    concurrency: whole('concurrency', flags.concurrency, 1),
    idleTimeoutMs: whole('idle-ms', flags['idle-ms'], 60_000),
    faults: (flags.fault ?? []).map(toFault),
    ...(flags.say === undefined ? {} : { texts: flags.say }),
  };
}

function toFault(flag: string): Fault {
  const fault = parseFaultFlag(flag);
  if ('problem' in fault) throw new RangeError(`--fault ${flag}: ${fault.problem}`);
  return fault;
}

function whole(name: string, value: string | undefined, fallback: number): number {
  const number = Number(value ?? fallback);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new RangeError(`--${name} is a whole number.`);
}

function show(lines: readonly string[], tookMs: number): void {
  const took = styleText('dim', `ready in ${(tookMs / 1000).toFixed(1)} s`, {
    stream: process.stderr,
  });
  const exports = lines.map((line) => `  export ${line}`).join('\n');
  process.stderr.write(`svc-emulator ${took}\n\n${exports}\n\n`);
}

function runCommand(command: readonly string[], settings: Record<string, string>): Promise<number> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...settings } });
  // Ctrl-C reaches the command too; it decides, and we follow.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.on('exit', (code) => resolve(code ?? 1));
    child.on('error', () => {
      process.stderr.write(`svc-emulator: ${program} could not be started.\n`);
      resolve(127);
    });
  });
}

function untilInterrupted(): Promise<number> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve(0));
    process.once('SIGTERM', () => resolve(0));
  });
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  const problem = isPortTaken(error)
    ? `Port ${error.port} is taken. Choose others: --port 0 --control-port 0 takes any that are free.`
    : `${error instanceof Error ? error.message : String(error)}\nTry: svc-emulator --help`;
  process.stderr.write(`svc-emulator: ${problem}\n`);
  // What had started by then would keep the process; PostgreSQL ends with it.
  process.exit(2);
});

function isPortTaken(error: unknown): error is Error & { port: number } {
  return (
    error instanceof Error && 'port' in error && 'code' in error && error.code === 'EADDRINUSE'
  );
}
