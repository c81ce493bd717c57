import { execFile } from 'node:child_process';
import { copyFile, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  downloadsOf,
  type CatalogueEntry,
  type Download,
  type RemoteArchive,
} from './catalogue.ts';
import { download } from './download.ts';
import { expectedHashes, HashPins } from './hash-pins.ts';
import { writeModelSet } from './model-set.ts';
import { pruneTokens, tokensOfLabels } from './orthography.ts';
import { Problem } from './problem.ts';
import { quantise, signedIsExact } from './quantise.ts';
import { inMegabytes, type Terminal } from './terminal.ts';

/** Hidden, so that it isn't listed as a model. */
const DOWNLOADS = '.downloads';

export interface FetchOptions {
  readonly modelsDir: string;
  readonly acceptLicence: boolean;
  /** Leaves the weights as they are instead of making them signed 8-bit ones. */
  readonly asPublished: boolean;
  /** Hashes for files without one in the catalogue: FILE=HEX. */
  readonly sha256: readonly string[];
  /** Accepts the first download of such a file and pins its hash. */
  readonly trustFirstDownload: boolean;
  readonly terminal: Terminal;
}

/** Downloads, verifies, prunes, quantises and installs a model of the catalogue. */
export async function fetchModel(entry: CatalogueEntry, options: FetchOptions): Promise<void> {
  const { modelsDir, terminal } = options;
  const pins = await HashPins.read(modelsDir);
  const expected = expectedHashes(entry, { ...options, pins });
  await agree(entry, options);
  const kept = join(modelsDir, DOWNLOADS, entry.name);
  const staging = `${kept}.staging`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  const onProgress = throttled(terminal);
  const get = async (remote: Download, path: string): Promise<void> => {
    const sha256 = expected.get(remote.url);
    const actual = await download(remote, path, { onProgress, sha256 });
    if (remote.sha256 !== undefined) return;
    if (sha256 === undefined) terminal.say(`Pinned ${remote.url}: sha256 ${actual}.`);
    await pins.add(remote.url, actual);
  };
  for (const file of entry.files ?? []) {
    await get(file, join(kept, file.as));
    await copyFile(join(kept, file.as), join(staging, file.as));
  }
  if (entry.archive !== undefined) {
    const archive = join(kept, 'archive.tar.bz2');
    await get(entry.archive, archive);
    await unpack(entry.archive, archive, staging);
  }
  const tokens = join(staging, 'tokens.txt');
  const labels = await readFile(join(staging, 'labels.json'), 'utf8').catch(() => null);
  if (labels !== null) await writeFile(tokens, tokensOfLabels(labels));
  const pruned = pruneTokens(await readFile(tokens, 'utf8'));
  if (pruned.kept < 20) throw new Problem(`Only ${pruned.kept} letters of our languages in it.`);
  await writeFile(tokens, pruned.text);
  terminal.say(`Kept ${pruned.kept} of ${pruned.of} labels: the letters of Kikuyu and Dholuo.`);
  if (!options.asPublished) {
    const isExact = await signedIsExact();
    terminal.say(await quantise(join(staging, 'model.onnx'), { isExact }));
  }
  await writeModelSet(staging, {
    build: entry.name,
    kind: entry.kind,
    licence: entry.licence,
    source: downloadsOf(entry)[0]?.url ?? '',
    normaliser: 'none',
    extra_lead_in_ms: 0,
    languages: { 'svc-asr-kikuyu-v1': 'ki-KE', 'svc-asr-dholuo-v1': 'luo-KE' },
    files: { model: 'model.onnx', tokens: 'tokens.txt' },
    ...(entry.decoding === undefined ? {} : { decoding: entry.decoding }),
  });
  const target = join(modelsDir, entry.name);
  await rm(target, { recursive: true, force: true });
  await rename(staging, target);
  await rm(kept, { recursive: true, force: true });
}

async function agree(entry: CatalogueEntry, options: FetchOptions): Promise<void> {
  const { terminal } = options;
  const bytes = downloadsOf(entry).reduce((sum, one) => sum + one.bytes, 0);
  terminal.say(`${entry.name}: ${entry.about}`);
  terminal.say(`  made by    ${entry.made_by}`);
  terminal.say(`  download   ${inMegabytes(bytes)}`);
  terminal.say(`  licence    ${entry.licence} (${entry.licence_url})`);
  for (const figure of entry.published) terminal.say(`  published  ${figure}`);
  terminal.say(`  note       ${entry.notes}`);
  if (options.acceptLicence) return;
  if (terminal.ask === null) {
    throw new Problem('Nobody can answer here: add --accept-licence once you have read it.');
  }
  const answer = await terminal.ask(`Do you accept the ${entry.licence} licence? Type yes: `);
  if (answer.trim().toLowerCase() !== 'yes') throw new Problem('Nothing was downloaded.');
}

async function unpack(remote: RemoteArchive, archive: string, out: string): Promise<void> {
  const members = Object.entries(remote.members);
  const paths = members.map(([, inside]) => `${remote.folder}/${inside}`);
  try {
    await promisify(execFile)('tar', ['-xjf', archive, '-C', out, '--', ...paths]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem(`The archive could not be unpacked; tar and bzip2 are needed. ${reason}`);
  }
  for (const [as, inside] of members) {
    const unpacked = join(out, remote.folder, inside);
    // A link would lead the next write to a file of this machine.
    const info = await lstat(unpacked);
    if (!info.isFile() || info.nlink > 1) throw new Problem(`${inside} is not a plain file.`);
    await rename(unpacked, join(out, as));
  }
  await rm(join(out, remote.folder), { recursive: true });
}

function throttled(terminal: Terminal) {
  let shownAtMs = 0;
  return (input: { name: string; bytes: number; total: number }): void => {
    const done = input.bytes === input.total;
    if (!done && performance.now() - shownAtMs < 500) return;
    shownAtMs = performance.now();
    const percent = Math.floor((100 * input.bytes) / input.total);
    terminal.show(`${input.name}  ${percent} %  ${inMegabytes(input.bytes)}`);
    if (done) terminal.show('');
  };
}
