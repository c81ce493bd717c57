import { chmod, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Writes the command line with the SDK as one file for Node 22. Third-party packages are dependencies. */
export async function writeBundle(out: string): Promise<Readonly<Record<string, unknown>>> {
  const program = join(out, 'svc.js');
  await build({
    entryPoints: [join(ROOT, 'clients/cli/src/main.ts')],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.0',
    plugins: [thirdPartyIsExternal],
    logLevel: 'error',
  });
  await chmod(program, 0o755);
  return {
    bin: { svc: './svc.js' },
    dependencies: { ...(await thirdParty('clients/sdk')), ...(await thirdParty('clients/cli')) },
  };
}

const thirdPartyIsExternal: Plugin = {
  name: 'third-party-is-external',
  setup(context) {
    context.onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@svc-asr/') ? undefined : { path, external: true },
    );
  },
};

/** The dependencies of a package that are not in this repository. */
async function thirdParty(room: string): Promise<Record<string, string>> {
  const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(
    await readFile(join(ROOT, room, 'package.json'), 'utf8'),
  );
  const names = Object.keys(dependencies).filter((name) => !name.startsWith('@svc-asr/'));
  return Object.fromEntries(names.map((name) => [name, dependencies[name] ?? '']));
}
