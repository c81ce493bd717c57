import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/kubernetes');
const FORMS = ['base', 'overlays/one-box', 'overlays/several-nodes', 'overlays/two-tiers'];
const OLD_CLUSTERS = '../try/kubernetes-box/kubernetes-1.20';
const OPERATOR = 'components/prometheus-operator';

/** The parts of a manifest that the tests below read. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly resources?: readonly string[];
  readonly patches?: readonly Patch[];
  readonly images?: readonly { readonly newTag: string }[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly scaleTargetRef?: { readonly name: string };
    readonly selector?: Selector & { readonly matchLabels?: Selector };
    readonly type?: string;
    readonly externalTrafficPolicy?: string;
    readonly template?: PodTemplate;
    readonly jobTemplate?: { readonly spec: { readonly template: PodTemplate } };
  };
}
interface PodTemplate {
  readonly metadata: { readonly labels: Selector };
  readonly spec: Pod;
}
/** A file, or a change to everything of a kind. */
interface Patch {
  readonly path?: string;
  readonly target?: { readonly kind: string };
  readonly patch?: string;
}
type Selector = Readonly<Record<string, string>>;
interface Probe {
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}
interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken?: boolean;
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[];
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly containers: readonly {
    readonly startupProbe?: Probe;
    readonly readinessProbe?: Probe;
    readonly livenessProbe?: Probe;
    readonly env?: readonly { readonly name: string; readonly value?: string }[];
    readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: string[] } } };
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
const pods = manifests.flatMap(({ metadata, spec }) => {
  const template = spec?.template ?? spec?.jobTemplate?.spec.template;
  return template === undefined ? [] : [{ name: metadata.name, pod: template.spec }];
});

test.each([...FORMS, OLD_CLUSTERS, OPERATOR])('%s uses every file of its folder', (form) => {
  const { resources = [], patches = [] } = kustomization(form);
  const used = [...resources, ...patches.flatMap(({ path }) => path ?? [])];
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

const servers = pods.filter(({ name }) => name === 'api' || name === 'node');

/** How long a pod goes on serving after it was told to leave. */
function leavingSeconds({ containers: [server] }: Pod): number {
  const command = server?.lifecycle?.preStop.exec.command.join(' ') ?? '';
  return Number(/setTimeout\(.*, (\d+)\)/.exec(command)?.[1]) / 1_000;
}

test('pods serve until every machine knows that they leave, and have time to drain', () => {
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap');
  const drainSeconds = Number(settings?.data?.['DRAIN_SECONDS']);
  expect(servers).toHaveLength(2);
  for (const { pod } of servers) {
    expect(leavingSeconds(pod)).toBeGreaterThanOrEqual(5);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      leavingSeconds(pod) + drainSeconds + 60,
    );
  }
});

test('a busy machine takes no pod out of service for one late answer, nor restarts one that starts slowly', () => {
  const probed = pods.flatMap(({ pod }) =>
    pod.containers.filter(({ readinessProbe }) => readinessProbe !== undefined),
  );
  expect(probed).toHaveLength(3);
  for (const { startupProbe, readinessProbe, livenessProbe } of probed) {
    for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
      expect(probe?.timeoutSeconds).toBeGreaterThanOrEqual(3);
      expect(probe?.failureThreshold).toBeGreaterThanOrEqual(3);
    }
    expect(patienceSeconds(startupProbe)).toBeGreaterThanOrEqual(300);
    // What gets no requests is not restarted at once: it may only be late.
    expect(patienceSeconds(livenessProbe)).toBeGreaterThan(patienceSeconds(readinessProbe));
  }
});

function patienceSeconds(probe: Probe | undefined): number {
  return (probe?.periodSeconds ?? 0) * (probe?.failureThreshold ?? 0);
}

test('only the autoscaler sets the number of pods that it scales', () => {
  const scaled = manifests.flatMap(({ spec }) => spec?.scaleTargetRef?.name ?? []);
  const numbers = manifests.flatMap(({ kind, metadata, spec }) =>
    kind === 'Deployment' && scaled.includes(metadata.name) ? [spec?.replicas] : [],
  );
  expect(scaled.toSorted()).toEqual(['engine', 'node']);
  expect(numbers).toEqual([undefined, undefined]);
});

test('clients cannot choose the address by which they are limited', () => {
  const balanced = manifests.filter(({ spec }) => spec?.type === 'LoadBalancer');
  expect(balanced.map(({ metadata }) => metadata.name).toSorted()).toEqual(['api', 'node']);
  for (const { spec } of balanced) expect(spec?.externalTrafficPolicy).toBe('Local');
  // Every file, patches included: a load balancer that passes TCP through adds no X-Forwarded-For, so clients would write it.
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((path) => path.endsWith('.yaml'))) {
    expect(readFileSync(join(FOLDER, file), 'utf8'), file).not.toContain('TRUSTED_PROXIES');
  }
});

test('pods of one kind spread over zones and machines', () => {
  for (const { name, pod } of pods.filter(({ name }) => ['api', 'node', 'engine'].includes(name))) {
    const keys = pod.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey);
    expect(keys, name).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
  }
});

test('Prometheus reads the metrics of every pod that has some', () => {
  const monitors = read(join(OPERATOR, 'pod-monitors.yaml')).map(({ spec }) => spec?.selector);
  const scraped = JSON.stringify(monitors);
  const serving = pods.filter(({ pod }) =>
    pod.containers.some(({ readinessProbe }) => readinessProbe),
  );
  expect(serving).toHaveLength(3);
  for (const { name } of serving) expect(scraped).toContain(`"${name}"`);
});

test('the documented secrets have every file that the pods read', () => {
  const page = readFileSync(join(ROOT, 'docs/operations/kubernetes.md'), 'utf8');
  for (const { name, pod } of pods) {
    const paths = pod.containers.flatMap(({ env = [] }) => env.map(({ value = '' }) => value));
    const files = paths.flatMap((path) => /^\/run\/secrets\/svc-asr\/(.+)$/.exec(path)?.[1] ?? []);
    const secret = name === 'migrate' ? 'owner' : name;
    const command = new RegExp(`create secret generic svc-asr-${secret}(?: .*\\\\\n)* .*`).exec(
      page,
    )?.[0];
    for (const file of files) expect(command).toContain(`--from-file=${file}`);
  }
});

test('the old cluster of the trial gets the same objects in versions that it knows', () => {
  const changes = (kustomization(OLD_CLUSTERS).patches ?? []).map(({ target, patch = '' }) => ({
    kind: target?.kind ?? '',
    to: parseAllDocuments(patch)[0]?.toJS(),
  }));
  expect(changes).toEqual([
    { kind: 'PodDisruptionBudget', to: [replaceVersion('policy/v1beta1')] },
    { kind: 'CronJob', to: [replaceVersion('batch/v1beta1')] },
    { kind: 'HorizontalPodAutoscaler', to: [replaceVersion('autoscaling/v2beta2')] },
  ]);
  const versions = manifests.flatMap(({ kind, apiVersion }) =>
    changes.some((change) => change.kind === kind) ? [apiVersion] : [],
  );
  expect(new Set(versions)).toEqual(new Set(['policy/v1', 'batch/v1', 'autoscaling/v2']));
});

function replaceVersion(value: string): object {
  return { op: 'replace', path: '/apiVersion', value };
}

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
