import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { join } from 'node:path';
import { createProgram as createCli } from '../../../clients/cli/src/program.ts';
import { Terminal } from '../../../clients/cli/src/terminal.ts';
import { createProgram as createEmulator } from '../../../clients/emulator/src/program.ts';
import { createProgram as createAdmin } from '../../../core/server/src/admin/program.ts';
import { ROOT } from './blocks.ts';

/** The part of a commander command that the checks need. */
interface Command {
  readonly commands: readonly Command[];
  readonly options: readonly {
    readonly short?: string | undefined;
    readonly long?: string | undefined;
  }[];
  name(): string;
  aliases(): string[];
}

const PROGRAMS: Readonly<Record<string, Command>> = {
  svc: createCli(new Terminal(new PassThrough(), new PassThrough(), {}), async () => {}),
  'svc-admin': createAdmin(async () => {}, {
    env: {},
    devFolder: '.dev',
    out: () => {},
    err: () => {},
  }),
  'svc-emulator': createEmulator(),
};

/** How a text runs one of our programs. */
const NAMES: Readonly<Record<string, string>> = {
  '@svc-asr/cli': 'svc',
  '@svc-asr/emulator': 'svc-emulator',
  svc_admin: 'svc-admin',
};

/** Programs whose options are looked up in their source. */
const SOURCES: Readonly<Record<string, string>> = {
  '@svc-asr/models': 'core/models/cli/src',
  '@svc-asr/telephony': 'clients/integrations/telephony/src',
  '@svc-asr/compatible': 'clients/integrations/compatible/src',
};

/** The name of a folder of the repository, and of something else in the text. */
const OTHER_FOLDERS = new Set(['core/engine/*.pem', 'gateway/*.pem', 'training/tuned.nemo']);

/** Returns the syntax error of a script, or null. Placeholders like `<name>` are words. */
export function syntaxError(script: string): string | null {
  const plain = script.replaceAll(/<[a-z][\w -]*>/g, 'PLACEHOLDER');
  const { status, stderr } = spawnSync('bash', ['-n'], { input: plain, encoding: 'utf8' });
  return status === 0 ? null : stderr.trim();
}

/** Returns commands, options, npm scripts and paths of a script that don't exist. */
export function unknownWords(script: string): string[] {
  return simpleCommands(script).flatMap((words) => [
    ...commandProblems(words),
    ...pathProblems(words),
  ]);
}

/** The simple commands of a script as words, without comments, variables in front and quotes. */
function simpleCommands(script: string): string[][] {
  const joined = script.replaceAll('\\\n', ' ').replaceAll(/<<'?(\w+)'?\n.*?\n\1$/gms, '');
  return joined
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, ''))
    .flatMap((line) => line.split(/\|\|?|&&|;|\$\(|&(?:\s|$)/))
    .map((command) => [...command.matchAll(/"[^"]*"|'[^']*'|[^\s"')]+/g)].map(([word]) => word))
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
    .filter((words) => words.length > 0);
}

function commandProblems(words: readonly string[]): string[] {
  const [first = '', ...rest] = words.filter((word) => word !== 'npx' && word !== '-y');
  const program = PROGRAMS[NAMES[first] ?? first];
  if (program !== undefined) return optionProblems(program, rest);
  const source = SOURCES[first];
  if (source !== undefined) return sourceProblems(first, source, rest);
  if (first === 'npm' && rest[0] === 'run') return npmProblems(rest.slice(1));
  return [];
}

function optionProblems(program: Command, words: readonly string[]): string[] {
  let command = program;
  let path = program.name();
  const problems: string[] = [];
  for (const word of words) {
    // COMMAND stands for any.
    if (word === '--' || /^\d*[<>]/.test(word) || /^(help|[A-Z]+)$/.test(word)) break;
    const child = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    if (child !== undefined) {
      command = child;
      path += ` ${word}`;
    } else if (word.startsWith('-') && word !== '-') {
      const known = [program, command].flatMap(({ options }) => options);
      const name = word.replace(/=.*$/, '');
      const isKnown =
        known.some(({ short, long }) => short === name || long === name) ||
        ['-h', '--help'].includes(name);
      if (!isKnown) problems.push(`${path} has no option ${name}`);
    } else if (command.commands.length > 0 && problems.length === 0 && command === program) {
      problems.push(`${path} has no command ${word}`);
    }
  }
  if (command.commands.length > 0 && command !== program) problems.push(`${path} needs a command`);
  return problems;
}

function sourceProblems(name: string, folder: string, words: readonly string[]): string[] {
  const files = globSync(`${folder}/**/*.ts`, { cwd: ROOT });
  const text = files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
  return words
    .filter((word) => /^--[a-z]/.test(word))
    .map((word) => word.replace(/=.*$/, ''))
    .filter((word) => !text.includes(word))
    .map((word) => `${name} has no option ${word}`);
}

function npmProblems(words: readonly string[]): string[] {
  const rest = words.filter((word) => word !== '-s');
  const at = rest.indexOf('--prefix');
  const prefix = at === -1 ? '.' : (rest[at + 1] ?? '.');
  const [name = '', ...args] = rest.filter(
    (_, index) => at === -1 || (index !== at && index !== at + 1),
  );
  // The text names a clone elsewhere.
  const folder = /^(\.\.|\/)/.test(prefix) ? '.' : prefix;
  const scripts = scriptsOf(folder);
  if (!scripts.has(name)) return [`${folder}/package.json has no script ${name}`];
  const own = args.filter((word) => word !== '--');
  const [campaign = ''] = own;
  if (name === 'admin') return optionProblems(PROGRAMS['svc-admin'] ?? createEmulator(), own);
  if (name === 'emulator') return optionProblems(createEmulator(), own);
  const isNamed = (name === 'prove' || name === 'bench') && /^[a-z]/.test(campaign);
  const files = globSync(join(ROOT, `proof/bench/src/${name}/**/${campaign}.ts`));
  return isNamed && files.length === 0 ? [`npm run ${name} has no ${campaign}`] : [];
}

function scriptsOf(folder: string): ReadonlySet<string> {
  const path = join(ROOT, folder, 'package.json');
  if (!existsSync(path)) return new Set();
  const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8'));
  return new Set(Object.keys(scripts));
}

const FOLDERS = new Set(
  execFileSync('git', ['ls-tree', '-d', '--name-only', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== ''),
);

/** Paths into the repository must exist. Those of a `cd` into another folder are not checked. */
function pathProblems(words: readonly string[]): string[] {
  return (
    words
      .map((word) => word.replace(/^(?:\.\/|\.\.\/svc-asr\/)/, '').replaceAll(/["']/g, ''))
      .filter((word) => /^[\w.-]+\/[\w./*-]+$/.test(word) && FOLDERS.has(word.split('/')[0] ?? ''))
      .filter((word) => !OTHER_FOLDERS.has(word))
      // Builds write there, so that it is missing from a fresh clone.
      .filter((word) => !word.includes('/dist/'))
      .filter((word) => globSync(word, { cwd: ROOT }).length === 0)
      .map((word) => `${word} does not exist`)
  );
}
