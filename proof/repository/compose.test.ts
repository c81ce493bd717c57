import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const DEPLOY = join(import.meta.dirname, '../../deploy');

interface ComposeService {
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
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

test('the service processes of compose.yaml read a mail server from a secret that init creates', () => {
  const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8');
  const { services, secrets }: Compose = parse(text, { merge: true });
  for (const name of ['service-1', 'service-2']) {
    expect(services[name]?.environment?.['SMTP_URL_FILE']).toBe('/run/secrets/smtp-url');
    expect(services[name]?.secrets).toContain('smtp-url');
  }
  expect(secrets['smtp-url']?.file).toBe('./compose/secrets/smtp-url');
  expect(readFileSync(join(DEPLOY, 'compose/init'), 'utf8')).toContain('>secrets/smtp-url');
});
