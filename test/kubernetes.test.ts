import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'deploy/kubernetes');
const FORMS = ['base', 'overlays/one-box', 'overlays/several-nodes', 'overlays/two-tiers'];

/** The parts of a manifest that the tests below read. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly resources?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
  readonly images?: readonly { readonly newTag: string }[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly selector?: Selector & { readonly matchLabels?: Selector };
    readonly template?: {
      readonly metadata: { readonly labels: Selector };
      readonly spec: Pod;
    };
  };
}
type Selector = Readonly<Record<string, string>>;
interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly containers: readonly {
    readonly env?: readonly { readonly name: string }[];
    readonly securityContext?: {
      readonly allowPrivilegeEscalation?: boolean;
      readonly readOnlyRootFilesystem?: boolean;
      readonly capabilities?: { readonly drop: readonly string[] };
    };
  }[];
}

function read(path: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(FOLDER, path), 'utf8')).map((document) =>
    document.toJS(),
  );
}

function kustomization(form: string): Manifest {
  const [found] = read(join(form, 'kustomization.yaml'));
  if (found === undefined) throw new Error(`${form} has no kustomization.`);
  return found;
}

/** Whole manifests, without the patches, which have only what they change. */
const manifests = FORMS.flatMap((form) =>
  (kustomization(form).resources ?? [])
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => read(join(form, file))),
);
const pods = manifests.flatMap(({ metadata, spec }) =>
  spec?.template === undefined ? [] : [{ name: metadata.name, pod: spec.template.spec }],
);

test.each(FORMS)('%s uses every file of its folder', (form) => {
  const { resources = [], patches = [] } = kustomization(form);
  const used = [...resources, ...patches.map(({ path }) => path)];
  const files = readdirSync(join(FOLDER, form)).filter((file) => file !== 'kustomization.yaml');
  expect(used.filter((file) => file.endsWith('.yaml')).toSorted()).toEqual(files.toSorted());
});

test('the image has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const tags = FORMS.flatMap((form) => kustomization(form).images ?? []);
  expect(new Set(tags.map(({ newTag }) => newTag))).toEqual(new Set([version]));
});

describe.each(pods)('the pods of $name', ({ pod }) => {
  test('meet the Pod Security level "restricted", with a read-only root', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const { securityContext } of pod.containers) {
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('are set up by documented settings', () => {
    const docs = ['docs/configuration.md', 'docs/engine.md']
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .join('\n');
    const names = pod.containers.flatMap(({ env = [] }) => env.map(({ name }) => name));
    const unknown = names.filter((name) => {
      const setting = /_(CERT|KEY|CA)_FILE$/.test(name) ? name : name.replace(/_FILE$/, '');
      return !docs.includes(`\`${setting}\``);
    });
    expect(unknown).toEqual([]);
  });
});

test('pods have time to drain before they are killed', () => {
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap');
  const drainSeconds = Number(settings?.data?.['DRAIN_SECONDS']);
  const servers = pods.filter(({ name }) => name === 'api' || name === 'node');
  expect(servers).toHaveLength(2);
  for (const { pod } of servers) {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSeconds + 60);
  }
});

test('every service and disruption budget selects the pods of a deployment', () => {
  const labels = manifests.flatMap(({ kind, spec }) =>
    kind === 'Deployment' && spec?.template !== undefined ? [spec.template.metadata.labels] : [],
  );
  const selecting = manifests.filter(({ kind }) =>
    ['Service', 'PodDisruptionBudget'].includes(kind),
  );
  expect(selecting.length).toBeGreaterThan(4);
  for (const { spec } of selecting) {
    expect(labels).toContainEqual(spec?.selector?.matchLabels ?? spec?.selector);
  }
});
