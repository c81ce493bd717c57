import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { promisify } from 'node:util';
import { setting } from './setting.ts';

/**
 * Stands in for prometheus-adapter in deploy/try/kubernetes: offers `svc_engine_slots_used_ratio` of every engine pod to
 * the autoscaler, from the pod's own /metrics. Settings: PORT, CERT_FILE, KEY_FILE, KUBECTL, KUBECONFIG.
 */

const GROUP = '/apis/custom.metrics.k8s.io/v1beta1';
const METRIC = 'svc_engine_slots_used_ratio';
const VALUES = new RegExp(`^${GROUP}/namespaces/([a-z0-9-]+)/pods/\\*/${METRIC}$`);
const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'custom.metrics.k8s.io/v1beta1',
  resources: [
    {
      name: `pods/${METRIC}`,
      singularName: '',
      namespaced: true,
      kind: 'MetricValueList',
      verbs: ['get'],
    },
  ],
};

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly podIP?: string };
  }[];
}

function sample(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
}

/** The share of used slots, or null while the pod doesn't answer. */
async function usedRatio(address: string): Promise<number | null> {
  const signal = AbortSignal.timeout(2_000);
  const answer = await fetch(`http://${address}:9090/metrics`, { signal }).catch(() => null);
  if (answer === null) return null;
  const metrics = await answer.text();
  const ratio = sample(metrics, 'svc_engine_slots_used') / sample(metrics, 'svc_engine_slots');
  return Number.isFinite(ratio) ? ratio : null;
}

async function values(namespace: string, selector: string): Promise<object> {
  const words = [
    '--namespace',
    namespace,
    'get',
    'pods',
    '--selector',
    selector,
    '--output',
    'json',
  ];
  const { stdout } = await promisify(execFile)(setting('KUBECTL'), words);
  const pods: Pods = JSON.parse(stdout);
  const timestamp = new Date().toISOString();
  const items = await Promise.all(
    pods.items.map(async ({ metadata: { name }, status: { podIP } }) => {
      const ratio = podIP === undefined ? null : await usedRatio(podIP);
      if (ratio === null) return [];
      const describedObject = { kind: 'Pod', apiVersion: '/v1', namespace, name };
      const value = `${Math.round(ratio * 1_000)}m`;
      return [{ describedObject, metricName: METRIC, timestamp, value, selector: null }];
    }),
  );
  return {
    kind: 'MetricValueList',
    apiVersion: 'custom.metrics.k8s.io/v1beta1',
    metadata: {},
    items: items.flat(),
  };
}

async function answer(url: URL): Promise<object | null> {
  // Kubernetes writes the asterisk as %2A.
  const path = decodeURIComponent(url.pathname);
  if (path === GROUP) return RESOURCES;
  const namespace = VALUES.exec(path)?.[1];
  return namespace === undefined
    ? null
    : values(namespace, url.searchParams.get('labelSelector') ?? '');
}

async function respond(path: string, response: ServerResponse): Promise<void> {
  const body = await answer(new URL(path, 'https://stand-in')).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    return null;
  });
  response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? {}));
}

const [cert, key] = await Promise.all([
  readFile(setting('CERT_FILE')),
  readFile(setting('KEY_FILE')),
]);
createServer({ cert, key }, (request, response) => {
  void respond(request.url ?? '/', response);
}).listen(Number(setting('PORT')));
