import type { CatalogueEntry } from './catalogue.ts';
import type { Hub, HubFile } from './hub.ts';
import { Problem } from './problem.ts';
import { recognise } from './recognise.ts';

/** The entry of a repository of a hub, with what a catalogue adds to it. */
export async function entryFromHub(
  hub: Hub,
  address: string,
  options: {
    /** Paths of the weights to take, if there are several. */
    readonly only?: readonly string[];
    readonly given?: CatalogueEntry;
  } = {},
): Promise<CatalogueEntry> {
  const { only = [], given } = options;
  const repository = await hub.describe(address);
  const { id, commit, page, isGated } = repository;
  if (isGated && !hub.hasToken) {
    throw new Problem(
      `${id} is gated: accept its conditions at ${page}, then set HF_TOKEN to a token of your account.`,
    );
  }
  const files = repository.files.map((file) => held(file, given?.hashes?.[file.path]));
  const hasLabels = given?.files?.some((file) => /^(?:tokens|labels|vocab)\./.test(file.as));
  const found = await recognise(
    { ...repository, files },
    { hub, only, hasLabels: hasLabels === true },
  );
  const [owner = ''] = id.split('/');
  const name = id
    .slice(owner.length + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-');
  const all = [...(given?.files ?? []), ...(found.files ?? [])];
  return {
    name: name.slice(0, 64),
    licence: repository.licence ?? 'none stated: ask its author before you use it',
    licence_url: page,
    made_by: `${owner}${isGated ? ' (gated: access is granted by its author)' : ''}`,
    languages: repository.languages,
    published: repository.published.length > 0 ? repository.published : ['none on its card'],
    ...found,
    ...given,
    source: `hf:${id}@${commit}`,
    files: all,
    bytes: all.reduce((sum, file) => sum + file.bytes, 0),
    decoding: merged(found.decoding, given?.decoding),
  };
}

/** A hash of the catalogue is older than what the hub says now. */
function held(file: HubFile, sha256: string | undefined): HubFile {
  if (sha256 === undefined) return file;
  if (file.sha256 !== undefined && file.sha256 !== sha256) {
    throw new Problem(
      `${file.path} has sha256 ${file.sha256} on the hub, expected is ${sha256}. Do not use it; report the difference.`,
    );
  }
  const { git_sha1: _, ...others } = file;
  return { ...others, sha256 };
}

/** The language models that were found, with the weights of the catalogue. */
function merged(
  found: CatalogueEntry['decoding'] = {},
  given: CatalogueEntry['decoding'] = {},
): NonNullable<CatalogueEntry['decoding']> {
  const ids = Object.entries(found);
  return Object.fromEntries(
    ids.map(([id, use]) => [
      id,
      { ...use, ...Object.entries(given).find(([key]) => key === id)?.[1] },
    ]),
  );
}
