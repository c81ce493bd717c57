import { execFileSync } from 'node:child_process';
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build, transform, type Metafile, type Plugin } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../../..');
const ENTRIES = [
  'clients/emulator/src/emulator.ts',
  'clients/emulator/src/main.ts',
  // A thread, which no module imports.
  'core/server/src/nodes/lease-worker-main.ts',
];
const TARGET = 'node22';
/** Files that the modules read at run time. */
const DATA = [
  ...['audit', 'functions', 'migrations'].map((folder) => `core/server/sql/${folder}`),
  'core/server/package.json',
];
/** Packages whose versions are taken for the dependencies. */
const PACKAGES = [
  'clients/emulator',
  'core/server',
  'core/engine',
  'core/runtime',
  'core/protocol',
  'core/local',
];

/**
 * Loaded on demand by settings that the emulator doesn't have: recognisers, shared limits and traces. They would be nine
 * tenths of the installation, and some need a newer Node or a download.
 */
const LEFT_OUT = new Set([
  './start-engine.ts',
  '@svc-asr/engine/silero-confirmer.ts',
  '@redis/client',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
]);

type Inputs = Metafile['inputs'];

/**
 * Writes the emulator and the parts of the server it runs, each module as JavaScript for Node 22 at its place in the
 * repository, so that paths to data files stay valid. Third-party packages are dependencies.
 */
export async function writeModules(out: string): Promise<Readonly<Record<string, unknown>>> {
  const inputs = await findModules();
  for (const [path, { imports }] of Object.entries(inputs)) {
    const source = await readFile(join(ROOT, path), 'utf8');
    const { code } = await transform(source, { loader: 'ts', format: 'esm', target: TARGET });
    await write(join(out, toJs(path)), withJsImports(code, path, imports));
  }
  for (const path of DATA) {
    await cp(join(ROOT, path), join(out, path), { recursive: true });
  }
  await copyFile(join(ROOT, 'llms.txt'), join(out, 'llms.txt'));
  await writeTypes(out);
  return {
    bin: { 'svc-emulator': './clients/emulator/src/main.js' },
    exports: {
      '.': {
        types: './clients/emulator/src/emulator.d.ts',
        default: './clients/emulator/src/emulator.js',
      },
    },
    dependencies: await dependencies(inputs),
  };
}

/** Every module that the entries need, with the paths of its imports. */
async function findModules(): Promise<Inputs> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'unused',
    write: false,
    metafile: true,
    plugins: [leftOut, thirdPartyIsExternal],
    logLevel: 'error',
  });
  return metafile.inputs;
}

const leftOut: Plugin = {
  name: 'left-out',
  setup(context) {
    context.onResolve({ filter: /./ }, ({ path, kind, importer }) => {
      if (!LEFT_OUT.has(path)) return undefined;
      if (kind === 'dynamic-import') return { path, external: true };
      throw new Error(`${importer} loads ${path} at once. Import it on demand.`);
    });
  },
};

const thirdPartyIsExternal: Plugin = {
  name: 'third-party-is-external',
  setup(context) {
    context.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@svc-asr/') ? undefined : { path, external: true },
    );
  },
};

function withJsImports(code: string, path: string, imports: Inputs[string]['imports']): string {
  let text = code;
  for (const { original, path: target, external } of imports) {
    if (original === undefined || external === true) continue;
    const found = relative(dirname(path), toJs(target));
    const specifier = found.startsWith('.') ? found : `./${found}`;
    text = text.replaceAll(`"${original}"`, `"${specifier}"`);
  }
  return text;
}

/** The public API: the emulator's own declarations, which need no other package. */
async function writeTypes(out: string): Promise<void> {
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-b', 'clients/emulator'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  for (const name of ['emulator', 'emulator-api', 'faults']) {
    const path = join(ROOT, `clients/emulator/dist/src/${name}.d.ts`);
    const text = await readFile(path, 'utf8');
    if (/from '(?!\.)/.test(text)) throw new Error(`${path} imports another package.`);
    await write(
      join(out, `clients/emulator/src/${name}.d.ts`),
      text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'").replace(/^\/\/# sourceMappingURL.*$/gm, ''),
    );
  }
}

async function dependencies(inputs: Inputs): Promise<Record<string, string>> {
  const versions = new Map<string, string>();
  for (const room of PACKAGES) {
    const text = await readFile(join(ROOT, room, 'package.json'), 'utf8');
    const { dependencies: found = {} }: { dependencies?: Record<string, string> } =
      JSON.parse(text);
    for (const [name, version] of Object.entries(found)) versions.set(name, version);
  }
  const names = Object.values(inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, path }) => external === true && !isBuiltin(path))
    .filter(({ path }) => !LEFT_OUT.has(path))
    .map(({ path }) => packageName(path));
  const used = [...new Set(names)].toSorted();
  return Object.fromEntries(
    used.map((name) => {
      const version = versions.get(name);
      if (version === undefined) throw new Error(`No package names the version of ${name}.`);
      return [name, version];
    }),
  );
}

/** `@scope/name/file` and `name/file` without the file. */
function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function toJs(path: string): string {
  return path.replace(/\.ts$/, '.js');
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
