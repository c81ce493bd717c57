import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const DEPLOY = join(import.meta.dirname, '../deploy');

interface Compose {
  readonly services: Readonly<Record<string, { readonly volumes?: readonly string[] }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

test('Compose mounts files of this repository, secrets that init writes, and named volumes', () => {
  const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8');
  const compose: Compose = parse(text, { merge: true });
  const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((volume) => volume.split(':')[0] ?? ''),
  );
  const known = (source: string): boolean =>
    source in compose.volumes ||
    source.startsWith('./compose/secrets/') ||
    existsSync(join(DEPLOY, source));
  expect(sources.filter((source) => !known(source))).toEqual([]);
  expect(sources).toEqual(
    expect.arrayContaining(['./monitoring/rules', './monitoring/dashboards']),
  );
});
