import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const DEPLOY = join(import.meta.dirname, '../../deploy');

interface Compose {
  readonly services: Readonly<Record<string, { readonly volumes?: readonly string[] }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

test.each([
  ['compose.yaml', ['./monitoring/rules', './monitoring/dashboards']],
  ['compose.compatible.yaml', ['./haproxy/compatible.cfg']],
])(
  '%s mounts files of this repository, secrets that init writes, and named volumes',
  (name, files) => {
    const text = readFileSync(join(DEPLOY, name), 'utf8');
    const compose: Compose = parse(text, { merge: true });
    const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    const known = (source: string): boolean =>
      source in compose.volumes ||
      source.startsWith('./compose/secrets/') ||
      existsSync(join(DEPLOY, source));
    expect(sources.filter((source) => !known(source))).toEqual([]);
    expect(sources).toEqual(expect.arrayContaining(files));
  },
);
