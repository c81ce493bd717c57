import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * Builds the folder to publish: `npm publish cli/dist/package --provenance`. The command line with the SDK is one file for
 * Node 20; third-party packages are dependencies.
 */
const ROOT = resolve(import.meta.dirname, '../..');

export async function buildPackage(out = join(ROOT, 'cli/dist/package')): Promise<string> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const program = join(out, 'svc.js');
  await build({
    entryPoints: [join(ROOT, 'cli/src/main.ts')],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.11',
    plugins: [thirdPartyIsExternal],
    logLevel: 'error',
  });
  await chmod(program, 0o755);
  await writeFile(join(out, 'package.json'), await manifest());
  await copyFile(join(ROOT, 'cli/README.md'), join(out, 'README.md'));
  await copyFile(join(ROOT, 'LICENSE'), join(out, 'LICENSE'));
  return out;
}

const thirdPartyIsExternal: Plugin = {
  name: 'third-party-is-external',
  setup(context) {
    context.onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@svc-asr/') ? undefined : { path, external: true },
    );
  },
};

async function manifest(): Promise<string> {
  const own: Record<string, unknown> = JSON.parse(await read('cli'));
  const { private: _, scripts: __, devDependencies: ___, ...kept } = own;
  const published = {
    ...kept,
    bin: { svc: './svc.js' },
    dependencies: { ...(await thirdParty('sdk')), ...(await thirdParty('cli')) },
    publishConfig: { access: 'public', provenance: true },
  };
  return `${JSON.stringify(published, null, 2)}\n`;
}

/** The dependencies of a package that are not in this repository. */
async function thirdParty(room: string): Promise<Record<string, string>> {
  const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(
    await read(room),
  );
  const names = Object.keys(dependencies).filter((name) => !name.startsWith('@svc-asr/'));
  return Object.fromEntries(names.map((name) => [name, dependencies[name] ?? '']));
}

function read(room: string): Promise<string> {
  return readFile(join(ROOT, room, 'package.json'), 'utf8');
}

if (import.meta.main) process.stdout.write(`${await buildPackage(process.argv[2])}\n`);
