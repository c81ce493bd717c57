import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}
interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

const HEADER = `# Generated from deploy/monitoring/rules by \`npm run docs\`. The audit runs as a CronJob here, so kube-state-metrics tells its result.
`;

/** In a cluster there is no file of node_exporter: a CronJob audits the ledger. */
const IN_A_CLUSTER: Readonly<Record<string, { readonly expr: string; readonly summary?: string }>> =
  {
    SvcLedgerAuditFailing: {
      expr: 'max(kube_job_status_failed{job_name=~"audit-.+"}) > 0',
      summary: 'The audit of the ledger failed. The log of the job names the invariant.',
    },
    SvcLedgerAuditMissing: {
      expr: 'time() - max(kube_cronjob_status_last_successful_time{cronjob="audit"}) > 36 * 3600 or absent(kube_cronjob_status_last_successful_time{cronjob="audit"})',
    },
  };

/** Returns the rules as an object that prometheus-operator loads. */
export function prometheusRule(root: string): string {
  const groups = ['recording', 'alerts'].flatMap((name) => {
    const path = join(root, `deploy/monitoring/rules/${name}.yaml`);
    const rules: Rules = parse(readFileSync(path, 'utf8'));
    return rules.groups;
  });
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'svc-asr', labels: { 'app.kubernetes.io/name': 'svc-asr' } },
    spec: { groups: groups.map((group) => ({ ...group, rules: group.rules.map(inACluster) })) },
  };
  return HEADER + stringify(rule, { lineWidth: 0, singleQuote: true });
}

function inACluster(rule: Rule): Rule {
  const change = IN_A_CLUSTER[rule.alert ?? ''];
  if (change === undefined) return rule;
  const { expr, summary } = change;
  const annotations = { ...rule.annotations, ...(summary === undefined ? {} : { summary }) };
  return { ...rule, expr, annotations };
}
