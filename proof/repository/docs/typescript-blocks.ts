import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { blocksOf, ROOT, type Block } from './blocks.ts';

/** The oldest Node that the packages support has this library. */
const LIBRARY = ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'];

/** Packages that the pages import, from where the workspace has them. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@svc-asr/emulator': 'clients/emulator',
  '@svc-asr/engine': 'core/engine',
  '@svc-asr/livekit': 'clients/integrations/livekit',
  '@svc-asr/sdk': 'clients/sdk',
  '@svc-asr/telephony': 'clients/integrations/telephony',
  '@livekit/agents': 'clients/integrations/livekit/node_modules/@livekit/agents',
  '@livekit/agents-plugin-openai':
    'clients/integrations/compatible/node_modules/@livekit/agents-plugin-openai',
  '@deepgram/sdk': 'clients/integrations/compatible/node_modules/@deepgram/sdk',
  vite: 'web/console/node_modules/vite',
  vitest: 'node_modules/vitest',
  openai: 'clients/integrations/compatible/node_modules/openai',
  '@types/node': 'node_modules/@types/node',
  '@types/react': 'web/console/node_modules/@types/react',
  '@types/react-dom': 'web/console/node_modules/@types/react-dom',
};

/** What a page has in its text, by page. Everything else that a block uses must be in it or imported by it. */
const GIVEN: Readonly<Record<string, string>> = {
  'docs/concepts/keys.md': "declare const session: import('@svc-asr/sdk').AsrSession;",
  'docs/engine.md': `import { startSherpaEngine } from '@svc-asr/engine';
    declare const signal: AbortSignal;
    declare const pcm: Uint8Array;`,
  'clients/examples/react/README.md': "import { useTranscript } from './use-transcript.ts';",
  'clients/integrations/livekit/README.md': `declare const llm: import('@livekit/agents').llm.LLM;
    declare const tts: import('@livekit/agents').tts.TTS;`,
};

/** Modules that a page shows in one block and imports in another: the first block of that page. */
const MODULES: Readonly<Record<string, string>> = { 'use-transcript.ts': 'docs/guides/react.md' };

/** Type-checks each block as a module of its own and returns the compiler's errors, by page and line. */
export async function typescriptErrors(blocks: readonly Block[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'docs-blocks-'));
  try {
    const files = new Map<string, { block: Block; before: number }>();
    await mkdir(join(folder, 'blocks'));
    await linkPackages(join(folder, 'node_modules'));
    for (const [name, page] of Object.entries(MODULES)) {
      const first = blocksOf(page).find(isTypeScript);
      await writeFile(join(folder, 'blocks', name), first?.code ?? '');
    }
    for (const [at, block] of blocks.entries()) {
      const before = GIVEN[block.page] ?? '';
      const name = `block-${at}.${block.language === 'tsx' ? 'tsx' : 'mts'}`;
      await writeFile(join(folder, 'blocks', name), `${before}\n${block.code}\nexport {};\n`);
      files.set(name, { block, before: before.split('\n').length });
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings()));
    const output = await compile(folder);
    return [...output.matchAll(/blocks\/(block-\d+\.\w+)\((\d+),\d+\): (.*)$/gm)].map(
      ([, name = '', line = '', message = '']) => {
        const file = files.get(name);
        const [page, first] = (file?.block.where ?? name).split(':');
        return `${page}:${Number(first) + Number(line) - 1 - (file?.before ?? 0)}: ${message}`;
      },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function isTypeScript({ language }: Block): boolean {
  return language === 'ts' || language === 'tsx';
}

async function linkPackages(modules: string): Promise<void> {
  for (const [name, path] of Object.entries(PACKAGES)) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, path), join(modules, name));
  }
}

function settings() {
  return {
    compilerOptions: {
      strict: true,
      // Readers have these on too.
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noPropertyAccessFromIndexSignature: true,
      noEmit: true,
      skipLibCheck: true,
      module: 'nodenext',
      target: 'es2022',
      lib: LIBRARY,
      jsx: 'react-jsx',
      types: ['node'],
      allowImportingTsExtensions: true,
    },
    include: ['blocks'],
  };
}

async function compile(folder: string): Promise<string> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  try {
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder], { cwd: folder });
    return stdout;
  } catch (error) {
    const { stdout } = Object(error);
    if (typeof stdout !== 'string' || stdout === '') throw error;
    return stdout;
  }
}
