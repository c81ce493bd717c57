import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPackage } from '@svc-asr/testing/installed-package.ts';

/** Tests the package as published: the built folder and its tarball. */
let folder: string;
let scratch: string;
let tarball: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sdk-package-'));
  folder = join(scratch, 'built');
  await buildPackage('@svc-asr/sdk', folder);
  const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', scratch], {
    cwd: folder,
    encoding: 'utf8',
  });
  tarball = join(scratch, name.trim());
});
afterAll(() => rm(scratch, { recursive: true }));

test('the package has no dependencies', async () => {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('devDependencies');
  const listing = execFileSync('tar', ['-tf', tarball], { encoding: 'utf8' });
  expect(listing).not.toMatch(/\.test\.|scripts\/|tsbuildinfo/);
  const texts = execFileSync('tar', ['-xOf', tarball], { encoding: 'utf8' });
  expect(texts).not.toMatch(/@svc-asr\/protocol|typebox/);
  expect(texts).not.toMatch(/from ['"]\.[^'"]*\.ts['"]/);
});

test('publint reports no problems', async () => {
  const { buffer } = new Uint8Array(await readFile(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('the types resolve for every way of importing ES modules', async () => {
  const analysis = await checkPackage(
    createPackageFromTarballData(new Uint8Array(await readFile(tarball))),
  );
  if (!analysis.types) throw new Error('The package has no types.');
  // Not supported: Node's oldest resolution, which ignores exports, and require() of ES modules.
  const problems = analysis.problems.filter(
    (problem) =>
      !('resolutionKind' in problem) || !['node10', 'node16-cjs'].includes(problem.resolutionKind),
  );
  expect(problems).toEqual([]);
});

test('a stream in a browser takes at most 10 kB', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: "export * from '@svc-asr/sdk/stream';",
      resolveDir: scratch,
    },
    alias: { '@svc-asr/sdk/stream': join(folder, 'stream.js') },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild wrote nothing.');
  const bytes = gzipSync(file.contents, { level: 9 }).byteLength;
  console.log(`./stream: ${bytes} bytes minified and gzipped`);
  expect(bytes).toBeLessThanOrEqual(10_000);
});
