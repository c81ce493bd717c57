import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { UsageError } from './command.ts';
import type { InputFile } from './input-files.ts';
import { FILE_ENDINGS, type Format } from './transcript-formats.ts';

/** Returns the output path of each input. Throws if two inputs would write the same file. */
export function planOutputs(
  files: readonly InputFile[],
  folder: string,
  format: Format,
): Map<string, string> {
  const inputs = new Map<string, string>();
  const outputs = new Map<string, string>();
  for (const { path, name } of files) {
    const stem = name.slice(0, name.length - extname(name).length);
    const output = join(folder, stem + FILE_ENDINGS[format]);
    const other = inputs.get(fileKey(output));
    if (other !== undefined) {
      throw new UsageError(
        `${other} and ${path} would both write ${output}. Rename one of them, or run svc once for each.`,
      );
    }
    inputs.set(fileKey(output), path);
    outputs.set(path, output);
  }
  return outputs;
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
export async function writeOutput(output: string, body: string): Promise<void> {
  await writePartial(output, body);
  await rename(partialPath(output), output);
}

/** Writes an incomplete transcript beside the place of the complete one. */
export async function writePartial(output: string, body: string): Promise<void> {
  await mkdir(dirname(output), { recursive: true });
  await writeFile(partialPath(output), `${body}\n`);
}
