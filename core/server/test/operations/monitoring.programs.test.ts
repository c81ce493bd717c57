import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { Prometheus } from '@svc-asr/testing/prometheus.ts';
import { startService } from '@svc-asr/testing/service/service.ts';
import { metricTypes, scrapeEverything } from '../support/all-metrics.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const MONITORING = join(ROOT, 'deploy/monitoring');
const run = promisify(execFile);

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { expr: string }[];
  }[];
}

let rules: string;
let alerts: string[];
let dashboards: Dashboard[];
beforeAll(async () => {
  const read = (path: string): Promise<string> => readFile(join(MONITORING, path), 'utf8');
  rules = (await read('rules/recording.yaml')) + (await read('rules/alerts.yaml'));
  alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const files = await readdir(join(MONITORING, 'dashboards'));
  dashboards = await Promise.all(
    files.map(async (file): Promise<Dashboard> => JSON.parse(await read(`dashboards/${file}`))),
  );
});

const queries = (): string[] =>
  dashboards.flatMap(({ panels }) =>
    panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  );

test('the rules pass their unit tests, which fire every alert', async () => {
  const folder = join(MONITORING, 'tests');
  const files = (await readdir(folder)).map((file) => join(folder, file));
  const { stdout } = await run('promtool', ['test', 'rules', ...files]);
  expect(stdout.match(/SUCCESS/g)).toHaveLength(files.length);
  const tests = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
  const fired = [...tests.matchAll(/alertname: (\w+)\n +exp_alerts:\n/g)].map(([, name]) => name);
  expect(new Set(fired)).toEqual(new Set(alerts));
});

test('Prometheus accepts both configurations, and every query of a dashboard', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-promtool-'));
  try {
    const groups = [
      { name: 'all', rules: queries().map((expr, at) => ({ record: `query_${at}`, expr })) },
    ];
    await writeFile(join(folder, 'queries.yaml'), JSON.stringify({ groups }));
    const { stdout } = await run('promtool', ['check', 'rules', join(folder, 'queries.yaml')]);
    expect(stdout).toContain(`${queries().length} rules found`);
  } finally {
    await rm(folder, { recursive: true });
  }
  for (const file of ['monitoring/prometheus.yml', 'compose/prometheus.yaml']) {
    await run('promtool', ['check', 'config', '--syntax-only', join(ROOT, 'deploy', file)]);
  }
  expect(dashboards).toHaveLength(3);
});

test('Prometheus reads a process that serves the certificate of the install guide', async () => {
  const certificate = await makeCertificate();
  const service = await startService({
    env: {
      METRICS_TOKEN: 'token-of-the-operator',
      TLS_CERT_FILE: certificate.certFile,
      TLS_KEY_FILE: certificate.keyFile,
    },
  });
  const shipped = await readFile(join(MONITORING, 'prometheus.yml'), 'utf8');
  const target = `localhost:${new URL(service.url).port}`;
  const prometheus = await Prometheus.start({
    'prometheus.yml': shipped
      .replace(/'node-1\.example\.com:443', 'node-2\.example\.com:443'/, `'${target}'`)
      .replaceAll('15s', '1s'),
    'ca.pem': certificate.cert.toString(),
    'metrics-token': 'token-of-the-operator\n',
  });
  try {
    await expect
      .poll(() => prometheus.query('up{job="svc-asr"}'))
      .toMatchObject([{ metric: { instance: target }, value: 1 }]);
  } finally {
    await prometheus.stop();
    await service.stop();
  }
});

test('Alertmanager accepts its configuration, pages someone and opens tickets for the rest', async () => {
  const file = join(MONITORING, 'alertmanager.yml');
  const { stdout } = await run('amtool', ['check-config', file]);
  expect(stdout).toContain('SUCCESS');
  const severities = new Set([...rules.matchAll(/severity: (\w+)/g)].map(([, name]) => name));
  expect(severities).toEqual(new Set(['page', 'ticket']));
  for (const [severity, receiver] of Object.entries({ page: 'on-call', ticket: 'tickets' })) {
    const words = ['config', 'routes', 'test', `--config.file=${file}`, `severity=${severity}`];
    const routed = await run('amtool', words);
    expect(routed.stdout.trim()).toBe(receiver);
  }
});

test('rules and dashboards use no metric that does not exist', async () => {
  const known = new Set<string>();
  for (const [name, type] of metricTypes(await scrapeEverything())) {
    known.add(name);
    if (type !== 'histogram') continue;
    for (const suffix of ['bucket', 'sum', 'count']) known.add(`${name}_${suffix}`);
  }
  for (const [, name = ''] of rules.matchAll(/record: '?(svc:[\w:]+)/g)) known.add(name);
  const used = [rules, ...queries()].join('\n').matchAll(/\bsvc[_:][\w:]+/g);
  expect([...used].map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
});

test('every alert links to a section that says what it means, what to run first and what to do', async () => {
  const page = await readFile(join(ROOT, 'docs/operations/runbooks.md'), 'utf8');
  const sections = new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );
  expect([...sections.keys()].toSorted()).toEqual(alerts.toSorted());
  for (const [name, section] of sections) {
    const [, severity] = new RegExp(`alert: ${name}\\n.*?severity: (\\w+)`, 's').exec(rules) ?? [];
    expect(page).toContain(`| [${name}](#${name.toLowerCase()}) | ${severity} |`);
    expect(rules).toContain(`runbook_url: docs/operations/runbooks.md#${name.toLowerCase()}\n`);
    const [, commands, advice] = /\n\n```sh\n(.*?)\n```\n\n(.+)/s.exec(section) ?? [];
    expect(commands?.split('\n'), name).toHaveLength(3);
    expect(advice?.trim(), name).not.toBe('');
  }
});
