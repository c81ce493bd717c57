import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { startControl } from './control.ts';
import { startEmulator, type Emulator, type EmulatorOptions } from './emulator.ts';
import { explainUnmet, FAULTS, parseFaultFlag, type Fault } from './faults.ts';

interface Flags {
  readonly port: number;
  readonly controlPort: number;
  readonly say?: readonly string[];
  readonly fault: readonly Fault[];
  readonly allowUnmetFaults?: true;
  readonly credit: number;
  readonly concurrency: number;
  readonly idleMs: number;
  readonly shortestMs: number;
  readonly writeEnv?: string;
}

const AFTER_HELP = `
Faults:
${Object.entries(FAULTS)
  .map(([name, about]) => `  ${name.padEnd(20)} ${about}`)
  .join('\n')}

At run time, on the control port:
  curl localhost:8091
  curl localhost:8091/faults -d '{"name":"engine-crash","ms":3000}'
  curl localhost:8091/faults -X DELETE
  curl localhost:8091/texts -d '{"texts":["nĩ wega"]}'
  curl localhost:8091/turns -d '{"turns":[{"text":"nĩ wega","silence_ms":800}]}'
  curl localhost:8091/restart -d '{"idle_ms":1500}'

Exit status: that of COMMAND, or 1 if a fault was never met, or 2 if the
emulator could not start.

Examples:
  svc-emulator
  svc-emulator --say 'nĩ wega mũno' -f 'unavailable*2' -f engine-crash:3000
  svc-emulator -- npm test`;

/** Runs one command line and returns its exit status. */
export async function runEmulator(argv: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    program.parse(argv, { from: 'user' });
    return await run(program.opts<Flags>(), program.args);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const problem = isPortTaken(error)
      ? `Port ${error.port} is in use. Choose another, or use --port 0 --control-port 0 for free ones.`
      : `${messageOf(error)}\nTry: svc-emulator --help`;
    process.stderr.write(`svc-emulator: ${problem}\n`);
    return 2;
  }
}

/** Every option, for `runEmulator` and for the reference. */
export function createProgram(): Command {
  return new Command('svc-emulator')
    .description(
      'Runs the real server with a scripted recogniser and a temporary PostgreSQL, and injects faults on demand. ' +
        'With a COMMAND, runs it with SVC_BASE_URL, SVC_API_KEY and SVC_EMULATOR_URL set. Without one, runs until Ctrl-C.',
    )
    .usage('[options] [-- COMMAND ...]')
    .argument('[command...]')
    .version(version(), '-V, --version', 'print the version')
    .option('-p, --port <n>', 'port of the service', whole, 8090)
    .option('--control-port <n>', 'port of the control server', whole, 8091)
    .option('-s, --say <text>', 'transcript; repeat it for one per utterance', collect)
    .option(
      '-f, --fault <fault>',
      'NAME, NAME:MS, NAME*TIMES or NAME:MS*TIMES; repeatable',
      addFault,
      [],
    )
    .option('--allow-unmet-faults', 'succeed even if a fault was never met')
    .option('--credit <seconds>', 'audio credit', whole, 3_600)
    .option('--concurrency <n>', 'sessions at once', whole, 1)
    .option('--idle-ms <n>', 'close idle streams with 4408 after this time', whole, 60_000)
    .option('--shortest-ms <n>', 'say nothing about utterances shorter than this', whole, 0)
    .option('--write-env <path>', 'write the settings to a file')
    .addHelpText('after', AFTER_HELP)
    .configureOutput({ writeErr: () => {}, getOutHelpWidth: () => 100 })
    .exitOverride();
}

async function run(flags: Flags, command: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const emulator = await startEmulator(toOptions(flags));
  const control = await startControl(emulator, flags.controlPort);
  const settings = {
    SVC_BASE_URL: emulator.url,
    SVC_API_KEY: emulator.apiKey,
    SVC_EMULATOR_URL: control.url,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  if (flags.writeEnv !== undefined) {
    await writeFile(flags.writeEnv, `${lines.join('\n')}\n`, { mode: 0o600 });
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const exports = lines.map((line) => `  export ${line}`).join('\n');
  process.stderr.write(`svc-emulator ready in ${seconds} s\n\n${exports}\n\n`);
  const status = await (command.length > 0 ? runCommand(command, settings) : untilInterrupted());
  const unmet = reportUnmet(emulator);
  await control.stop();
  await emulator.stop();
  return status === 0 && unmet && flags.allowUnmetFaults !== true ? 1 : status;
}

/** A test that never met its fault proves nothing, so say so. */
function reportUnmet({ faults }: Emulator): boolean {
  if (faults.armed.length === 0) return false;
  process.stderr.write(`svc-emulator: ${explainUnmet(faults.armed)}\n`);
  return true;
}

function toOptions(flags: Flags): EmulatorOptions {
  return {
    port: flags.port,
    creditMs: flags.credit * 1000,
    concurrency: flags.concurrency,
    idleTimeoutMs: flags.idleMs,
    shortestMs: flags.shortestMs,
    faults: flags.fault,
    ...(flags.say === undefined ? {} : { texts: flags.say }),
  };
}

function addFault(flag: string, earlier: readonly Fault[]): readonly Fault[] {
  const fault = parseFaultFlag(flag);
  if ('problem' in fault) throw new InvalidArgumentError(fault.problem);
  return [...earlier, fault];
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

function whole(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('Use a whole number.');
}

/** From package.json: one folder up in the repository, two in the published package. */
function version(): string {
  for (const path of ['../package.json', '../../../package.json']) {
    const url = new URL(path, import.meta.url);
    if (!existsSync(url)) continue;
    const manifest: { version: string } = JSON.parse(readFileSync(url, 'utf8'));
    return manifest.version;
  }
  return 'unknown';
}

function runCommand(command: readonly string[], settings: Record<string, string>): Promise<number> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...settings } });
  // Ctrl-C reaches the command too. The emulator ends when the command does.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.on('exit', (code) => resolve(code ?? 1));
    child.on('error', () => {
      process.stderr.write(`svc-emulator: Could not start ${program}.\n`);
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

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^error: /, '');
}

function isPortTaken(error: unknown): error is Error & { port: number } {
  return (
    error instanceof Error && 'port' in error && 'code' in error && error.code === 'EADDRINUSE'
  );
}
