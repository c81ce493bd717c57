/** The sections of a release, in their order, by the kinds in names of files in changes/. */
const HEADINGS = {
  added: 'Added',
  changed: 'Changed',
  fixed: 'Fixed',
  removed: 'Removed',
  security: 'Security',
} as const;
const UNRELEASED = '## Unreleased\n';

export interface Change {
  /** `NAME.KIND.md`. */
  readonly file: string;
  readonly text: string;
}

/** Returns the changelog with a section for the version: the entries of "Unreleased" and the changes. "Unreleased" is then empty. */
export function collectChanges(
  changelog: string,
  changes: readonly Change[],
  release: { readonly version: string; readonly date: string },
): string {
  const start = changelog.indexOf(UNRELEASED);
  if (start < 0) throw new Error('CHANGELOG.md has no section "Unreleased".');
  const next = changelog.indexOf('\n## ', start + UNRELEASED.length);
  const end = next < 0 ? changelog.length : next + 1;
  const entries = readEntries(changelog.slice(start + UNRELEASED.length, end));
  for (const { file, text } of changes) {
    const heading = headingOf(file);
    entries.set(heading, `${entries.get(heading) ?? ''}${text.trim()}\n`);
  }
  const sections = Object.values(HEADINGS)
    .filter((heading) => entries.has(heading))
    .map((heading) => `### ${heading}\n\n${entries.get(heading)}`);
  const section = `## ${release.version} - ${release.date}\n\n${sections.join('\n')}`;
  return (
    `${changelog.slice(0, start)}${UNRELEASED}\n${section}\n${changelog.slice(end)}`.trimEnd() +
    '\n'
  );
}

function headingOf(file: string): string {
  const kind = /^[\w-]+\.(\w+)\.md$/.exec(file)?.[1] ?? '';
  const heading = new Map<string, string>(Object.entries(HEADINGS)).get(kind);
  if (heading === undefined) {
    throw new Error(
      `release/changes/${file}: name it NAME.KIND.md, with KIND ${Object.keys(HEADINGS).join(', ')}.`,
    );
  }
  return heading;
}

/** The entries of a section by heading. */
function readEntries(section: string): Map<string, string> {
  const parts = section.split(/^### (.+)\n/m).slice(1);
  const entries = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) {
    entries.set(parts[at] ?? '', `${(parts[at + 1] ?? '').trim()}\n`);
  }
  return entries;
}
