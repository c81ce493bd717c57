import type { PGlite } from '@electric-sql/pglite';

/** The whole state of a PGlite: its memory and the files of its data directory. */
export interface PgliteImage {
  readonly memory: Uint8Array;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const DATA = '/pglite/data';

/** A file or folder of Emscripten's in-memory file system, as far as it is used here. */
interface FileNode {
  readonly mode: number;
  contents: Uint8Array | Int8Array | Record<string, FileNode> | null;
  usedBytes: number;
}

export function takeImage(db: PGlite): PgliteImage {
  const files = new Map<string, Uint8Array>();
  for (const [path, node] of filesOf(db)) {
    if (isBytes(node.contents)) files.set(path, asBytes(node.contents).slice(0, node.usedBytes));
  }
  return { memory: db.Module['HEAPU8'].slice(), files };
}

/**
 * Puts a state back in place, including the transaction counter, so that equal calls have equal effects. Far faster than
 * starting again.
 */
export function putImage(db: PGlite, { memory, files }: PgliteImage): void {
  db.Module['HEAPU8'].set(memory);
  for (const [path, node] of filesOf(db)) {
    const bytes = files.get(path) ?? new Uint8Array(0);
    if (isBytes(node.contents) && node.contents.length >= bytes.length) {
      const contents = asBytes(node.contents);
      contents.set(bytes);
      // A file that grows again must not show old bytes.
      contents.fill(0, bytes.length);
    } else {
      node.contents = bytes.slice();
    }
    node.usedBytes = bytes.length;
  }
}

function filesOf(db: PGlite): Map<string, FileNode> {
  const { FS } = db.Module;
  const found = new Map<string, FileNode>();
  function walk(path: string, folder: FileNode): void {
    if (folder.contents === null || isBytes(folder.contents)) return;
    for (const [name, child] of Object.entries(folder.contents)) {
      if (FS.isDir(child.mode)) walk(`${path}/${name}`, child);
      else found.set(`${path}/${name}`, child);
    }
  }
  walk(DATA, FS.lookupPath(DATA, {}).node);
  return found;
}

function isBytes(contents: FileNode['contents']): contents is Uint8Array | Int8Array {
  return ArrayBuffer.isView(contents);
}

function asBytes(contents: Uint8Array | Int8Array): Uint8Array {
  return new Uint8Array(contents.buffer, contents.byteOffset, contents.byteLength);
}
