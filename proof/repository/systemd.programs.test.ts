import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const UNITS = join(import.meta.dirname, '../../deploy/systemd');
const EXPOSURE_MAX = 2;
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'units-'));
afterAll(() => rmSync(folder, { recursive: true }));

const services = readdirSync(UNITS).filter((name) => name.endsWith('.service'));

test('the service, the engine node, the audit, the backup, svc-compatible and svc-telephony have a unit', () => {
  expect(services).toEqual([
    'svc-asr.service',
    'svc-audit.service',
    'svc-backup.service',
    'svc-compatible.service',
    'svc-engine.service',
    'svc-telephony.service',
  ]);
});

test.skipIf(!hasSystemd).each(services)('%s has an exposure of at most 2', (name) => {
  expect(exposure(join(UNITS, name))).toBeLessThanOrEqual(EXPOSURE_MAX);
});

test.skipIf(!hasSystemd)(
  'svc-asr.service with engine-user.conf has an exposure of at most 2',
  () => {
    const unit = join(folder, 'svc-asr.service');
    const [main = ''] = readFileSync(join(UNITS, 'svc-asr.service'), 'utf8').split('[Install]');
    writeFileSync(unit, main + readFileSync(join(UNITS, 'engine-user.conf'), 'utf8'));
    expect(exposure(unit)).toBeLessThanOrEqual(EXPOSURE_MAX);
  },
);

/** Returns systemd's exposure score, from 0 (best) to 10. */
function exposure(unit: string): number {
  const report = execFileSync(
    'systemd-analyze',
    ['security', '--offline=yes', '--no-pager', unit],
    {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    },
  );
  const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? [];
  if (level === undefined) throw new Error('systemd-analyze printed no exposure level');
  return Number(level);
}
