import { cp, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { contextFiles } from './context.ts';
import { run } from './run.ts';
import { readStages, type Stage, type Step } from './stages.ts';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * Builds a Containerfile without a container engine: lays out every stage in a folder of its own below `out`, and runs its
 * commands there. An absolute path of a command is a path below that folder. Returns the folder of the last stage.
 */
export async function layOut(containerfile: string, context: string, out: string): Promise<string> {
  const files = contextFiles(join(ROOT, context));
  const folders = new Map<string, string>();
  let last = out;
  for (const stage of readStages(await readFile(join(ROOT, containerfile), 'utf8'))) {
    last = join(out, stage.name);
    folders.set(stage.name, last);
    await layOutStage(stage, last, { folder: join(ROOT, context), files }, folders);
  }
  return last;
}

interface Context {
  readonly folder: string;
  readonly files: readonly string[];
}

async function layOutStage(
  stage: Stage,
  folder: string,
  context: Context,
  stages: ReadonlyMap<string, string>,
): Promise<void> {
  const variables: Record<string, string> = {};
  let workdir = '/';
  await mkdir(folder, { recursive: true });
  if (stage.base === '${BUILD_IMAGE}') await addNode(folder);
  for (const step of stage.steps) {
    try {
      switch (step.kind) {
        case 'folder':
          workdir = resolve(workdir, step.path);
          await mkdir(join(folder, workdir), { recursive: true });
          break;
        case 'variable':
          variables[step.name] = step.value;
          break;
        case 'copy': {
          const target = join(folder, resolve(workdir, step.target));
          const isFolder = step.target.endsWith('/') || step.sources.length > 1;
          if (step.from === undefined) await copyContext(step.sources, target, isFolder, context);
          else await copyStage(step.sources, target, stages.get(step.from));
          break;
        }
        case 'run':
          if (!needsDebian(step.command)) await build(step.command, folder, workdir, variables);
          break;
      }
    } catch (error) {
      throw new Error(`Stage ${stage.name}, ${described(step)}: ${String(error)}`, {
        cause: error,
      });
    }
  }
}

/** The base of a build has Node.js in /usr/local/bin. */
async function addNode(folder: string): Promise<void> {
  await mkdir(join(folder, 'usr/local/bin'), { recursive: true });
  await symlink(process.execPath, join(folder, 'usr/local/bin/node'));
}

async function copyContext(
  sources: readonly string[],
  target: string,
  isFolder: boolean,
  { folder, files }: Context,
): Promise<void> {
  for (const source of sources) {
    const prefix = source === '.' ? '' : `${source}/`;
    const copied = files.includes(source)
      ? [[source, isFolder || source === '.' ? join(target, basename(source)) : target] as const]
      : files
          .filter((file) => file.startsWith(prefix))
          .map((file) => [file, join(target, file.slice(prefix.length))] as const);
    if (copied.length === 0) throw new Error(`${source} doesn't exist or is in .dockerignore.`);
    for (const [file, to] of copied) {
      await mkdir(dirname(to), { recursive: true });
      await cp(join(folder, file), to, { verbatimSymlinks: true });
    }
  }
}

/** As hard links, because node_modules is large. */
async function copyStage(
  sources: readonly string[],
  target: string,
  stage: string | undefined,
): Promise<void> {
  if (stage === undefined) throw new Error('There is no such stage.');
  for (const source of sources) {
    const from = join(stage, source);
    const isFolder = (await stat(from)).isDirectory();
    await mkdir(isFolder ? target : dirname(target), { recursive: true });
    await mustRun('cp', ['-al', isFolder ? `${from}/.` : from, target]);
  }
}

/** Debian's packages need root and a container. `deploy/try/all` installs them. */
function needsDebian(command: string): boolean {
  return command.startsWith('apt-get ');
}

async function build(
  command: string,
  folder: string,
  workdir: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const inFolder = command.replaceAll(/(?<=^|[\s"'=(<>:])\/(?!dev\/null)/g, () => `${folder}/`);
  const env = { ...variables, ...(await installedPackages()), ...searchPath() };
  await mustRun('sh', ['-c', inFolder], { cwd: join(folder, workdir), env });
}

async function mustRun(...call: Parameters<typeof run>): Promise<void> {
  const { failed, output } = await run(...call);
  if (failed) throw new Error(`the command failed.\n${output.slice(-4_000)}`);
}

/** Lets `pnpm install` take the packages that this workspace has, instead of downloading them. */
async function installedPackages(): Promise<Record<string, string>> {
  const { storeDir } = parse(await readFile(join(ROOT, 'node_modules/.modules.yaml'), 'utf8'));
  return {
    npm_config_prefer_offline: 'true',
    pnpm_config_offline: 'true',
    pnpm_config_store_dir: dirname(storeDir),
  };
}

function searchPath(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH: `${dirname(process.execPath)}:${PATH}`, HOME };
}

function described(step: Step): string {
  if (step.kind === 'run') return `RUN ${step.command}`;
  return step.kind === 'copy' ? `COPY ${step.sources.join(' ')} ${step.target}` : step.kind;
}
