import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Which module of the repository imports which, by path. Types count. Tests, which may use anything, don't. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** The groups from the ground up. Web, proof and release stand side by side. */
const FLOORS: Readonly<Record<string, number>> = {
  core: 0,
  clients: 1,
  web: 2,
  proof: 2,
  release: 2,
};
const IMPORT = /^(?:import|export)\s+(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const ON_DEMAND = /\bimport\(\s*['"]([^'"]+)['"]/g;
const TEST = /\.test\.|\/test\//;

interface Package {
  readonly folder: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

export async function readImports(root: string, paths: readonly string[]): Promise<ImportGraph> {
  const packages = new Map<string, Package>();
  for (const path of paths.filter((each) => each.endsWith('/package.json'))) {
    const { name, exports = {} } = JSON.parse(await readFile(join(root, path), 'utf8'));
    packages.set(name, { folder: dirname(path), exports });
  }
  const modules = paths.filter((path) => /\.tsx?$/.test(path) && !TEST.test(path));
  const known = new Set(modules);
  const graph = new Map<string, Set<string>>();
  for (const path of modules) {
    const text = await readFile(join(root, path), 'utf8');
    const found = [...text.matchAll(IMPORT), ...text.matchAll(ON_DEMAND)].map(
      ([, specifier = '']) => targetOf(path, specifier, packages),
    );
    graph.set(path, new Set(found.filter((target) => target !== path && known.has(target))));
  }
  return graph;
}

/** Imports of a group by one below it. */
export function findUpwardImports(graph: ImportGraph): string[] {
  return [...graph].flatMap(([path, targets]) =>
    [...targets]
      .filter((target) => floorOf(target) > floorOf(path))
      .map((target) => `${path} imports ${target}, which stands above it`),
  );
}

function floorOf(path: string): number {
  return FLOORS[path.split('/')[0] ?? ''] ?? Infinity;
}

/** Modules that import each other, directly or through others, and folders of a package that do. */
export function findCircles(graph: ImportGraph): string[] {
  const folders = new Map<string, Set<string>>();
  for (const [path, targets] of graph) {
    const from = folderOf(path);
    const to = folders.get(from) ?? new Set<string>();
    for (const target of targets) if (folderOf(target) !== from) to.add(folderOf(target));
    folders.set(from, to);
  }
  return [...circlesOf(graph), ...circlesOf(folders)].map(
    (circle) => `${circle.toSorted().join(', ')} import each other`,
  );
}

/** A folder directly in src. The files directly in src stand for themselves. */
function folderOf(path: string): string {
  const [, folder] = /^(.*\/src\/[^/]+)\//.exec(path) ?? [];
  return folder ?? path;
}

function targetOf(path: string, specifier: string, packages: ReadonlyMap<string, Package>): string {
  if (specifier.startsWith('.')) return join(dirname(path), specifier);
  const [scope, name, ...rest] = specifier.split('/');
  const found = packages.get(`${scope}/${name}`);
  if (found === undefined) return '';
  const inside = ['.', ...rest].join('/');
  const target = found.exports[inside] ?? found.exports['./*'];
  return typeof target === 'string' ? join(found.folder, target.replace('*', rest.join('/'))) : '';
}

/** The strongly connected components of more than one node, by Tarjan's algorithm. */
function circlesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const own = order.size;
    order.set(node, own);
    lowest.set(node, own);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      const reached = order.has(next)
        ? stack.includes(next)
          ? order.get(next)
          : own
        : visit(next);
      lowest.set(node, Math.min(lowest.get(node) ?? own, reached ?? own));
    }
    const low = lowest.get(node) ?? own;
    if (low === own) {
      const circle = stack.splice(stack.indexOf(node));
      if (circle.length > 1) circles.push(circle);
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}
