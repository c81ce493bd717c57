import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { loadManifests } from '@svc-asr/engine';
import { expect, onTestFinished, test } from 'vitest';
import { stageModelSet } from '../src/model-set.ts';

const ROOT = join(import.meta.dirname, '../../../..');

// Linux has a file system in memory there.
test.runIf(process.platform === 'linux')(
  'weights on another disk than the models directory can be served',
  async () => {
    const models = await mkdtemp('/dev/shm/models-');
    onTestFinished(() => rm(models, { recursive: true }));
    await symlink(join(ROOT, 'core/models/demo'), join(models, 'elsewhere'));
    const manifests = await loadManifests(await stageModelSet(models, 'elsewhere'));
    expect(manifests).toHaveLength(2);
  },
);
