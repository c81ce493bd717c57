import { execFile } from 'node:child_process';
import { link, lstat, mkdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { bytesOf, downloadsOf, type CatalogueEntry, type RemoteArchive } from './catalogue.ts';
import { download, type Download } from './download.ts';
import { exclusively } from './exclusive.ts';
import { expectedHashes, HashPins, isHashed } from './hash-pins.ts';
import type { Hub } from './hub.ts';
import { ctcSet } from './import-ctc.ts';
import { completeDecoding, importLm } from './import-lm.ts';
import { importNemo } from './import-nemo.ts';
import { zipformerSet } from './import-zipformer.ts';
import { LANGUAGES, MODEL_OF } from './languages.ts';
import { installModelSet, readModelSet, type SetDecoding } from './model-set.ts';
import { Problem } from './problem.ts';
import { inMegabytes, table, type Terminal } from './terminal.ts';
import { MAKE_ENVIRONMENT, trainingPython } from './training-python.ts';

/** Hidden, so that it isn't listed as a model. */
const DOWNLOADS = '.downloads';
/** Weights are rewritten and archives unpacked beside the download. */
const ROOM = 2;

export interface FetchOptions {
  readonly modelsDir: string;
  readonly acceptLicence: boolean;
  /** Leaves the weights as they are instead of making them signed 8-bit ones. */
  readonly asPublished: boolean;
  /** Makes live streams of an offline CTC model keep keys and values of earlier audio. */
  readonly streamed: boolean;
  /** Hashes for files without one in the catalogue: FILE=HEX. */
  readonly sha256: readonly string[];
  /** Accepts the first download of such a file and pins its hash. */
  readonly trustFirstDownload: boolean;
  /** The installed model that gets the language models of a repository which has nothing else. */
  readonly into?: string | undefined;
  readonly hub: Hub;
  readonly terminal: Terminal;
}

/** Downloads, verifies and installs a model of the catalogue or of a hub. Returns the name of the model. */
export async function fetchModel(entry: CatalogueEntry, options: FetchOptions): Promise<string> {
  const folder = join(options.modelsDir, entry.name);
  const fetched = await exclusively(folder, () => fetchAlone(entry, options));
  if (fetched !== null) return fetched;
  throw new Problem(`Another svc-models is fetching ${entry.name}. Wait for it, or use --name.`);
}

async function fetchAlone(entry: CatalogueEntry, options: FetchOptions): Promise<string> {
  const { modelsDir, terminal } = options;
  const pins = await HashPins.read(modelsDir);
  const expected = expectedHashes(entry, { ...options, pins });
  await refuseEarly(entry, options);
  await agree(entry, options);
  const kept = join(modelsDir, DOWNLOADS, entry.name);
  const staging = `.${entry.name}.staging`;
  const folder = join(modelsDir, staging);
  const onProgress = throttled(terminal);
  const get = async (remote: Download, name: string): Promise<string> => {
    // Named by its hash, so that it is resumed even if the repository has changed elsewhere.
    const path = join(kept, remote.sha256 ?? remote.git_sha1 ?? name);
    const sha256 = expected.get(remote.url);
    const token = options.hub.tokenFor(remote.url);
    const actual = await download(remote, path, { onProgress, sha256, token });
    if (isHashed(remote)) return path;
    if (sha256 === undefined) terminal.say(`Pinned ${remote.url}: sha256 ${actual}.`);
    await pins.add(remote.url, actual);
    return path;
  };
  const { files = [], archive } = entry;
  const paths = new Map<string, string>();
  for (const file of files) paths.set(file.as, await get(file, file.as));
  const packed = archive === undefined ? null : await get(archive, 'archive.tar.bz2');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  let installed: string;
  try {
    for (const [as, path] of paths) await link(path, join(folder, as));
    if (archive !== undefined && packed !== null) await unpack(archive, packed, folder);
    installed = await install(entry, { ...options, staging });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await rm(kept, { recursive: true, force: true });
  return installed;
}

/** Says before a long download what would only fail after it. */
async function refuseEarly(entry: CatalogueEntry, options: FetchOptions): Promise<void> {
  if (entry.kind === 'nemo' && (await trainingPython()) === null) {
    throw new Problem(
      `This is a NeMo checkpoint, and NeMo is not installed (2.3 GB). Run: ${MAKE_ENVIRONMENT}`,
    );
  }
  if (entry.kind === 'lm' && options.into === undefined) {
    throw new Problem(
      'It has only language models. Add --into NAME of an installed CTC or Zipformer model.',
    );
  }
  if (options.into !== undefined) await readModelSet(options.modelsDir, options.into);
  const needed = ROOM * bytesOf(entry);
  const { bavail, bsize } = await statfs(options.modelsDir);
  if (needed <= bavail * bsize) return;
  throw new Problem(
    `${entry.name} needs ${inMegabytes(needed)}, and ${options.modelsDir} has ${inMegabytes(bavail * bsize)}. ` +
      'Free some, or use --models with a folder on another disk.',
  );
}

async function install(
  entry: CatalogueEntry,
  options: FetchOptions & { readonly staging: string },
): Promise<string> {
  const { modelsDir, staging, terminal } = options;
  const { name, licence, languages, published } = entry;
  const folder = join(modelsDir, staging);
  const source = entry.source ?? downloadsOf(entry)[0]?.url ?? '';
  const decoding: Partial<Record<ModelId, SetDecoding>> = {};
  for (const id of MODEL_IDS) {
    const stated = entry.decoding?.[id];
    if (stated !== undefined) decoding[id] = await completeDecoding(folder, stated);
  }
  const given = { build: name, licence, source, stated: { languages, published } };
  switch (entry.kind) {
    case 'offline_ctc': {
      const searched = Object.keys(decoding).length === 0 ? given : { ...given, decoding };
      const set = await ctcSet(folder, { ...options, given: searched });
      await installModelSet(modelsDir, { staging, name, set });
      return name;
    }
    case 'zipformer_transducer':
      await installModelSet(modelsDir, {
        staging,
        name,
        set: zipformerSet({ ...given, normaliser: 'none' }),
      });
      return name;
    case 'lm': {
      const into = options.into ?? '';
      for (const language of LANGUAGES) {
        const use = decoding[MODEL_OF[language]];
        if (use !== undefined) await importLm(folder, { ...use, modelsDir, into, for: language });
      }
      return into;
    }
    case 'nemo':
    case 'transducer': {
      const checkpoint = join(folder, 'checkpoint.nemo');
      const prompts = { kikuyu: 'ki-KE', dholuo: 'luo-KE' };
      const int8 = !options.asPublished;
      const input = { checkpoint, modelsDir, name, int8, prompts, normaliser: 'none' };
      await importNemo({ ...input, ...given, terminal });
      return name;
    }
  }
}

async function agree(entry: CatalogueEntry, options: FetchOptions): Promise<void> {
  const { terminal } = options;
  const forbids = /-nc\b|non-?commercial/i.test(entry.licence);
  terminal.say(`${entry.name}: ${entry.about}`);
  terminal.say(`  made by    ${entry.made_by}`);
  if (entry.source !== undefined) terminal.say(`  source     ${entry.source}`);
  const rows = (entry.files ?? []).map((file) => [file.as, inMegabytes(file.bytes)]);
  for (const line of rows.length === 0 ? [] : table(rows).split('\n'))
    terminal.say(`  file       ${line}`);
  terminal.say(`  download   ${inMegabytes(bytesOf(entry))}`);
  terminal.say(`  licence    ${entry.licence} (${entry.licence_url})`);
  if (forbids) terminal.say('  WARNING    this licence forbids commercial use');
  for (const figure of entry.published) terminal.say(`  published  ${figure}`);
  terminal.say(`  note       ${entry.notes}`);
  if (options.acceptLicence) return;
  if (terminal.ask === null) {
    throw new Problem('Nobody can answer here: add --accept-licence once you have read it.');
  }
  const which = `${entry.licence} licence${forbids ? ', which forbids commercial use' : ''}`;
  const answer = await terminal.ask(`Do you accept the ${which}? Type yes: `);
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
