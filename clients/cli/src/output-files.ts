import { access, constants, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { UsageError } from './command.ts';
import type { InputFile } from './input-files.ts';
import { FILE_ENDINGS, type Format } from './transcript-formats.ts';

/** Where the transcript of one input is written. */
export interface OutputPlan {
  readonly files: readonly { readonly format: Format; readonly path: string }[];
  /** Holds the finals while the transcript is incomplete. */
  readonly journal: string;
}

/** Returns the outputs of each input. Throws if two inputs would write the same file. */
export function planOutputs(
  files: readonly InputFile[],
  folder: string,
  formats: readonly Format[],
): Map<string, OutputPlan> {
  const inputs = new Map<string, string>();
  const outputs = new Map<string, OutputPlan>();
  for (const { path, name } of files) {
    const stem = join(folder, name.slice(0, name.length - extname(name).length));
    const plan = {
      files: formats.map((format) => ({ format, path: stem + FILE_ENDINGS[format] })),
      journal: `${stem}.resume.ndjson`,
    };
    for (const { path: output } of plan.files) {
      const other = inputs.get(fileKey(output));
      if (other !== undefined) {
        throw new UsageError(
          `${other} and ${path} would both write ${output}. Rename one of them, or run svc once for each.`,
        );
      }
      inputs.set(fileKey(output), path);
    }
    outputs.set(path, plan);
  }
  return outputs;
}

/** Creates the output folders. Throws if a file can't be written there, before anything is charged. */
export async function prepareFolders(plans: Iterable<OutputPlan>): Promise<void> {
  const folders = new Set<string>();
  for (const { files, journal } of plans) {
    folders.add(dirname(journal));
    for (const { path } of files) {
      const info = await stat(path).catch(() => null);
      if (info?.isDirectory() === true) {
        throw new UsageError(`${path} is a folder, so no transcript can be written there.`);
      }
    }
  }
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK | constants.X_OK);
      // A read-only or full disk passes the check above.
      const probe = join(folder, `.svc-${process.pid}`);
      await writeFile(probe, 'x');
      await rm(probe);
    } catch (error) {
      throw new UsageError(
        `Can't write to ${folder} (${reason(error)}). Choose another -o folder.`,
      );
    }
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const REASONS: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
    EEXIST: 'it is a file',
    ENOTDIR: 'a part of the path is a file',
  };
  return REASONS[code] ?? (code || 'unknown error');
}

/** macOS and Windows don't tell names apart by case. */
function fileKey(path: string): string {
  return process.platform === 'linux' ? path : path.toLowerCase();
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export function partialPath(output: string): string {
  return `${output}.partial`;
}

/** Writes a complete transcript. A file without `.partial` is always complete. */
export async function writeOutput(output: string, body: string, replace: boolean): Promise<void> {
  if (replace || !(await exists(output))) {
    await writeFile(`${output}.new`, `${body}\n`);
    await rename(`${output}.new`, output);
  }
  await rm(partialPath(output), { force: true });
}

/** Writes an incomplete transcript beside the place of the complete one. Never replaces a longer one. */
export async function writePartial(output: string, body: string): Promise<void> {
  const path = partialPath(output);
  const known = await readFile(path, 'utf8').catch(() => '');
  if (known.length > body.length + 1) return;
  await writeFile(`${path}.new`, `${body}\n`);
  await rename(`${path}.new`, path);
}
