import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Row {
  readonly client: string;
  readonly version: string;
  readonly checks: Readonly<Record<string, string>>;
}

const COLUMNS = {
  kikuyu: 'Kikuyu',
  dholuo: 'Dholuo',
  interim: 'interim results',
  ends: 'ends cleanly',
  wrong_key: 'wrong key',
  no_credit: 'no credit',
  limit: 'session limit',
  restart: 'restart in mid-speech',
} as const;
const VERDICTS: Readonly<Record<string, string>> = {
  yes: 'yes',
  status: 'status only',
  none: '-',
  no: '**no**',
};

/** Returns docs/guides/compatible-clients.md from the results that `npm run prove -- compatible --write` keeps. */
export function compatibleClientsPage(root: string): string {
  const path = join(root, 'clients/integrations/compatible/clients/results.json');
  const rows: readonly Row[] = JSON.parse(readFileSync(path, 'utf8'));
  const names = Object.keys(COLUMNS);
  const lines = rows.map(({ client, version, checks }) =>
    cells([client, version, ...names.map((name) => VERDICTS[checks[name] ?? ''] ?? 'not run')]),
  );
  return [
    '# Tested clients',
    '',
    '`npm run prove -- compatible` runs each of these packages, unchanged, against [`svc-compatible`](compatible.md) in front of the service with the',
    'bundled models. `--write` keeps the results, and `npm run docs` writes this table.',
    '',
    cells(['client', 'version', ...Object.values(COLUMNS)]),
    `|${'---|'.repeat(names.length + 2)}`,
    ...lines,
    '',
    '- **Kikuyu, Dholuo:** a recorded sentence gives exactly the text that the SDK gets.',
    '- **Interim results:** the client shows text before the final. A `-` means that its API has none.',
    '- **Wrong key, no credit, session limit:** the client shows our message. "Status only" means that it shows the HTTP status and hides the message.',
    '- **Restart in mid-speech:** the only streaming node is killed while the client speaks and started again. The text is complete.',
    '',
  ].join('\n');
}

function cells(values: readonly string[]): string {
  return `| ${values.join(' | ')} |`;
}
